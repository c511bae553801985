"""A query: the whole, and its sentences, each of which looks for its own evidence."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.errors import InvalidRequest
from indexing.text.sentences import sentences
from indexing.text.vocabulary import without_surrogates

MOST_SENTENCES = 32  # a longer query is a document; its first sentences say what it is about


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its sentences."""

    text: str  # the whole query, trimmed
    sentences: tuple[str, ...]  # its sentences, at least one

    @classmethod
    def of(cls, text: str) -> Query:
        """Split a query.

        Raises:
            InvalidRequest: It holds no letter and no digit.
        """
        text = without_surrogates(text)
        if not any(character.isalnum() for character in text):
            raise InvalidRequest("the question is empty; write what you want to know")
        whole = text.strip()
        spans = sentences(whole, 0, len(whole))[:MOST_SENTENCES]
        parts = [whole[start:end] for start, end in spans]
        with_words = [part for part in parts if any(character.isalnum() for character in part)]
        return cls(whole, tuple(with_words) or (whole,))

    def texts(self, *, by_sentence: bool) -> tuple[str, ...]:
        """The whole, then its sentences where they are looked up too.

        Of a query of one sentence, which is the whole, just that.
        """
        if not by_sentence or self.sentences == (self.text,):
            return (self.text,)
        return (self.text, *self.sentences)
