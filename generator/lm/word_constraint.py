"""The words that a language model may write: those in its prompt, and function words.

Constrained decoding (De Cao et al., arXiv 2010.00904, section 3.2), by words: after each token,
what is written of a word must begin an allowed word. So no name, number or other word
of content can be made up, though words can still be joined wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from indexing.text.english import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001
_LAST_WORD = re.compile(r"[^\W_]+$")
_ASCII = re.compile(r"[a-z0-9]+")
_JOINING = """said says say explained explains stated mentioned according also is was are were be
    been has have had would could can will should may might must one two three wanted wants want
    because since although however while"""
JOINING = (STOP_WORDS | frozenset(_JOINING.split())) - {"no", "not", "nor"}
"""Words that may always be written. A denial must be shown, as it turns a sentence round."""


def words_of(texts: Iterable[str]) -> set[str]:
    """The words of texts, in lower case, those in the possessive too."""
    words: set[str] = set()
    for text in texts:
        for word in _WORD.findall(text.lower().replace("’", "'")):  # noqa: RUF001
            words |= {word, f"{word}'s", *word.split("'")}
            if not word.isascii():
                words.update(_ASCII.findall(word))  # what tokens of single bytes leave of it
    return words


class WordConstraint:
    """Which tokens may follow in one answer."""

    def __init__(
        self,
        words: Iterable[str],  # that may be written beside those of `JOINING`, in lower case
        piece: Callable[[int], str],  # a token's text
        eos_token_ids: Collection[int],  # that end an answer, where no word is unfinished
        *,
        whole: str = "",  # an answer that may always be written
    ) -> None:
        self._words = JOINING | set(words)
        self._prefixes = {word[:end] for word in self._words for end in range(1, len(word) + 1)}
        self._piece, self.eos_token_ids = piece, frozenset(eos_token_ids)
        self._whole, self._text, self._unfinished = whole, "", ""

    def allows(self, token: int) -> bool:
        """Whether a token may follow."""
        return self._continues_whole(token) or self._after(token) is not None

    def push(self, token: int) -> None:
        """The token is written. It must be allowed."""
        after = self._after(token)
        self._text += "" if token in self.eos_token_ids else self._piece(token)
        if after is None:  # within `whole`, whose words need not be allowed
            last = _LAST_WORD.search(self._text.lower())
            after = last.group() if last else ""
        self._unfinished = after

    def _continues_whole(self, token: int) -> bool:
        """Whether a token is the next one of `whole`, or its end."""
        if token in self.eos_token_ids:
            return bool(self._whole) and self._text == self._whole
        return self._whole.startswith(self._text + self._piece(token))

    def drop_unfinished(self) -> None:
        """The word that is being written will not be finished."""
        self._unfinished = ""

    def _after(self, token: int) -> str | None:
        """What is unfinished after a token; None where that token is not allowed."""
        word = self._unfinished
        text = "" if token in self.eos_token_ids else self._piece(token)
        for character in text.lower().replace("’", "'"):  # noqa: RUF001
            if character.isalnum() or (character == "'" and word):
                word += character
                if word.rstrip("'") not in self._prefixes:
                    return None
            elif not self._is_word(word):
                return None
            else:
                word = ""
        return word if text or self._is_word(word) else None

    def _is_word(self, word: str) -> bool:
        return not word or word.rstrip("'") in self._words
