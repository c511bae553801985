"""A sentence of an answer -> the verbatim span that carries it, or none.

A sentence is verified by a quote of one to three neighbouring sentences that were shown to the
model when all of these hold:

- its numbers and names are in the quote (names also in its speaker or its document's title), in
  the same order; neither denies what the other states (`claim.contradiction`);
- `OVERLAP` of what it says, weighted by rarity, is in the quote, `ORDER` of that in the same order;
- their embeddings are closer than `SIMILARITY`.

Overlap is what decides; similarity only catches word salad. With four words that carry meaning,
overlap allows one common word to be another one, and no rare one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from generator.answer import NOT_SAID, Citation
from generator.claim import Wording, contradiction, in_order, overlap, read
from generator.evidence import Embed, Sentence, Span, evidence_sentences
from generator.terms import Rarity, content_stems, stem, words
from indexing.sentences import sentences

OVERLAP = 0.75
ORDER = 0.85
SIMILARITY = 0.5
NEAR = 0.5
"""Overlap from which an unverified quote is still worth showing."""

_LONGEST = 3  # sentences in a quote
_EMBEDDED = 6  # quotes compared by embedding for each sentence of an answer


@dataclass(frozen=True, slots=True)
class Quote:
    """One to three neighbouring sentences of one utterance or paragraph, taken apart."""

    first: Sentence
    end: int
    wording: Wording
    about: frozenset[str]

    @property
    def text(self) -> str:
        """The span itself."""
        return self.first.document.text[self.first.start : self.end]


class Citer:
    """Finds the quotes for the sentences of one answer, in order, and numbers them.

    The evidence is taken apart when the first sentence is complete, so that nobody waits for it
    before the first word.

    Args:
        spans: The evidence that the model was shown.
        embed: Texts to normalised vectors.
    """

    def __init__(self, spans: Sequence[Span], embed: Embed) -> None:
        self._spans, self._embed = spans, embed
        self.citations: list[Citation] = []
        self.unsupported: list[str] = []

    def cite(self, sentence: str) -> Citation | None:
        """The quote nearest to a sentence, kept in `citations`; None when none is near.

        A sentence without a verified quote is kept in `unsupported`.
        """
        best = self._best(sentence)
        if best is None or not best.verified:
            self.unsupported.append(sentence)
        if best is None:
            return None
        for known in self.citations:
            same = (known.document, known.start, known.end) == (best.document, best.start, best.end)
            if same and known.verified == best.verified:
                return known
        self.citations.append(replace(best, marker=len(self.citations) + 1))
        return self.citations[-1]

    @cached_property
    def _found(self) -> list[Sentence]:
        return evidence_sentences(self._spans)

    @cached_property
    def _ordinary(self) -> frozenset[str]:
        """Words that the evidence also writes in lower case, so that they are no names."""
        texts = (sentence.text.split() for sentence in self._found)
        return frozenset(word for text in texts for word in text if word.islower())

    @cached_property
    def _rarity(self) -> Rarity:
        return Rarity(map(content_stems, (sentence.text for sentence in self._found)))

    @cached_property
    def _quotes(self) -> list[Quote]:
        return list(_quotes(self._found, self._ordinary))

    def _best(self, sentence: str) -> Citation | None:
        """The verified quote with most overlap, else the nearest unverified one."""
        claim = read(sentence, ordinary=self._ordinary)
        near = [(self._share(claim, quote), quote) for quote in self._quotes]
        near = [(share, quote) for share, quote in near if share >= NEAR]
        near.sort(key=lambda pair: (-self._holds(claim, *pair), -pair[0], len(pair[1].text)))
        near = near[:_EMBEDDED]
        if not near:
            return None
        vectors = self._embed([sentence, *(quote.text for _, quote in near)])
        return max(
            (
                _citation(
                    quote, share, float(vector @ vectors[0]), holds=self._holds(claim, share, quote)
                )
                for (share, quote), vector in zip(near, vectors[1:], strict=True)
            ),
            key=lambda citation: (citation.verified, citation.overlap, citation.similarity),
        )

    def _share(self, claim: Wording, quote: Quote) -> float:
        return overlap(claim, quote.wording, about=quote.about, rarity=self._rarity)

    def _holds(self, claim: Wording, share: float, quote: Quote) -> bool:
        """Every condition except the embedding's."""
        return (
            share >= OVERLAP
            and in_order(claim, quote.wording) >= ORDER
            and contradiction(claim, quote.wording, about=quote.about) is None
        )


def cite(
    answer: str, spans: Sequence[Span], embed: Embed
) -> tuple[tuple[Citation, ...], tuple[str, ...]]:
    """The citations of a finished answer, and its sentences that no quote supports.

    Args:
        answer: Text without markers.
        spans: The evidence it was written from.
        embed: Texts to normalised vectors.
    """
    citer = Citer(spans, embed)
    for start, end in sentences(answer, 0, len(answer)):
        if answer[start:end] != NOT_SAID:
            citer.cite(answer[start:end])
    return tuple(citer.citations), tuple(citer.unsupported)


def _quotes(found: Sequence[Sentence], ordinary: frozenset[str]) -> Iterator[Quote]:
    """Every run of up to three neighbouring sentences of one utterance or paragraph."""
    for i, first in enumerate(found):
        about = frozenset(
            stem(word)
            for name in (first.speaker or "", first.document.title)
            for word in words(name)
        )
        for last in found[i : i + _LONGEST]:
            if not _together(first, last):
                break
            text = first.document.text[first.start : last.end]
            yield Quote(first, last.end, read(text, ordinary=ordinary), about)


def _together(first: Sentence, last: Sentence) -> bool:
    if last.document.id != first.document.id or last.turn != first.turn or last.start < first.start:
        return False
    return "\n\n" not in first.document.text[first.start : last.end]


def _citation(quote: Quote, share: float, similarity: float, *, holds: bool) -> Citation:
    document, first = quote.first.document, quote.first
    return Citation(
        marker=0,
        document=document.id,
        path=document.path,
        title=document.title,
        part=document.part,
        start=first.start,
        end=quote.end,
        quote=quote.text,
        speaker=first.speaker,
        time=first.time,
        page=document.page_at(first.start),
        verified=holds and similarity >= SIMILARITY,
        overlap=share,
        similarity=similarity,
    )
