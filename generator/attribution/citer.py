"""A sentence of an answer -> the verbatim span that carries it, or none.

A sentence is verified by a quote of one to three neighbouring sentences that were shown to the
model when all of these hold:

- its numbers and names are in the quote (names also in its speaker or its document's title), in
  the same order; neither denies what the other states (`claim.contradiction`);
- `OVERLAP` of what it says, weighted by rarity, is in the quote, `ORDER` of that in the same order;
- their embeddings are closer than `SIMILARITY`, alone or, as an answer may say little without its
  question ("By 15 December."), each after what comes before it: the question, the sentence before
  the quote. Less than `WHOLE` words that carry meaning are compared only so, and closer than
  `WITH_QUESTION`.

Overlap is what decides; similarity only catches word salad. With four words that carry meaning,
overlap allows one common word to be another one, and no rare one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from generator.answer import NOT_SAID, Citation
from generator.attribution.entailment_rules import Wording, contradiction, in_order, overlap, read
from generator.evidence import Embed, Sentence, Span, evidence_sentences
from indexing.text.sentences import sentences
from indexing.text.terms import Rarity, content_stems, stem, topic_words, words

OVERLAP = 0.75
ORDER = 0.85
SIMILARITY = 0.5
NEAR = 0.5
"""Overlap from which an unverified quote is still worth showing."""
WHOLE = 3
WITH_QUESTION = 0.45

_LONGEST = 3  # sentences in a quote
_LABEL = 120  # characters
_BREAK = re.compile(r"\S|\n\n")
_EMBEDDED = 6  # quotes compared by embedding for each sentence of an answer


@dataclass(frozen=True, slots=True)
class Quote:
    """One to three neighbouring sentences of one utterance or paragraph, taken apart.

    Attributes:
        first: The first of them.
        end: One past the last character.
        wording: What they say.
        about: Stems of the speaker's name and the document's title.
        before: The sentence before them.
        around: Stems of what they say, and of that sentence.
    """

    first: Sentence
    end: int
    wording: Wording
    about: frozenset[str]
    before: str
    around: frozenset[str]

    @property
    def text(self) -> str:
        """The span itself."""
        return self.first.document.text[self.first.start : self.end]


@dataclass(frozen=True, slots=True)
class _Near:
    """A quote beside a sentence: how much of the sentence it has, and of what is asked."""

    quote: Quote
    share: float
    asked: float
    holds: bool

    @property
    def order(self) -> tuple[bool, float, float, int]:
        """Least for the best, before embeddings are compared."""
        return (not self.holds, -self.share, -self.asked, len(self.quote.text))


class Citer:
    """Finds the quotes for the sentences of one answer, in order, and numbers them.

    The evidence is taken apart when the first sentence is complete, so that nobody waits for it
    before the first word.

    Args:
        spans: The evidence that the model was shown.
        embed: Texts to normalised vectors.
        question: What is answered; without it, answers of a few words are compared alone.
    """

    def __init__(self, spans: Sequence[Span], embed: Embed, *, question: str = "") -> None:
        self._spans, self._embed, self._question = spans, embed, question
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

    @cached_property
    def _wanted(self) -> list[str]:
        """Stems of what the question is about."""
        return [stem(word) for word in topic_words(self._question)]

    def _best(self, sentence: str) -> Citation | None:
        """The verified quote with most overlap, else the nearest unverified one."""
        claim = read(sentence, ordinary=self._ordinary)
        near = sorted(self._near(claim), key=lambda each: each.order)[:_EMBEDDED]
        if not near:
            return None
        texts = [sentence, *(each.quote.text for each in near)]
        first: Citation | None = None
        for reading in self._readings(claim, texts, near):
            found = self._nearest(near, *reading)
            if found.verified:
                return found
            first = first or found
        return first

    def _readings(
        self, claim: Wording, texts: list[str], near: Sequence[_Near]
    ) -> Iterator[tuple[list[str], float]]:
        """The texts to compare, the sentence's first, and how close the best has to be."""
        short = bool(self._wanted) and len(claim.stems) < WHOLE
        if not short:
            yield texts, SIMILARITY
        if self._wanted:
            befores = [self._question, *(each.quote.before for each in near)]
            asked = [f"{before} {text}" for before, text in zip(befores, texts, strict=True)]
            yield asked, WITH_QUESTION if short else SIMILARITY

    def _nearest(self, near: Sequence[_Near], texts: list[str], least: float) -> Citation:
        """The quote that is verified, has most overlap and is closest, by the texts' embeddings."""
        vectors = self._embed(texts)
        return max(
            (
                _citation(each, float(vector @ vectors[0]), least=least)
                for each, vector in zip(near, vectors[1:], strict=True)
            ),
            key=lambda citation: (citation.verified, citation.overlap, citation.similarity),
        )

    def _near(self, claim: Wording) -> Iterator[_Near]:
        for quote in self._quotes:
            share = overlap(claim, quote.wording, about=quote.about, rarity=self._rarity)
            if share >= NEAR:
                asked = self._rarity.share(self._wanted, quote.around)
                yield _Near(quote, share, asked, holds=_holds(claim, share, quote))


def _holds(claim: Wording, share: float, quote: Quote) -> bool:
    """Every condition except what embeddings or the question tell."""
    return (
        share >= OVERLAP
        and in_order(claim, quote.wording) >= ORDER
        and contradiction(claim, quote.wording, about=quote.about) is None
    )


def cite(
    answer: str, spans: Sequence[Span], embed: Embed, *, question: str = ""
) -> tuple[tuple[Citation, ...], tuple[str, ...]]:
    """The citations of a finished answer, and its sentences that no quote supports.

    Args:
        answer: Text without markers.
        spans: The evidence it was written from.
        embed: Texts to normalised vectors.
        question: What is answered.
    """
    citer = Citer(spans, embed, question=question)
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
        before = found[i - 1].text if i and _gap(found[i - 1], first) is not None else ""
        for j, last in enumerate(found[i : i + _LONGEST], start=i):
            if j > i and not _together(found[j - 1], last):
                break
            text = first.document.text[first.start : last.end]
            around = frozenset(content_stems(f"{before} {text}"))
            yield Quote(first, last.end, read(text, ordinary=ordinary), about, before, around)


def _together(one: Sentence, other: Sentence) -> bool:
    """Whether the second follows the first in one utterance or paragraph."""
    between = _gap(one, other)
    return between is not None and one.utterance == other.utterance and not _BREAK.search(between)


def _gap(one: Sentence, other: Sentence) -> str | None:
    """What stands between two sentences, at most the label of a speaker; None where more does."""
    if one.document.id != other.document.id or not 0 <= other.start - one.end <= _LABEL:
        return None
    return one.document.text[one.end : other.start]


def _citation(near: _Near, similarity: float, *, least: float) -> Citation:
    quote, first = near.quote, near.quote.first
    document = first.document
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
        verified=near.holds and similarity >= least,
        overlap=near.share,
        similarity=similarity,
    )
