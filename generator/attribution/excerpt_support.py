"""A sentence of an answer -> the excerpt of the evidence that says it in other words, or none.

A sentence may sum up what stands apart: so those sentences of a document that have its words
between them are gathered, and read as one excerpt. Of it and all excerpts without a veto of the
rules (`entailment_rules.find_veto`), the `MOST` that share most of the sentence's content words go
to the verifier. The most probable one supports the sentence from `THRESHOLD` on, and one that has
less than `SHARE` of its words from `SURE` on (fitted: docs/notebook/experiments.md).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from generator.answer import Citation
from generator.attribution.asked import ReadSentence, is_only_asked
from generator.attribution.entailment_rules import (
    ParsedSentence,
    find_veto,
    is_opposite,
    overlap,
    parse_sentence,
    stems_of_names,
)
from generator.attribution.verifier import AnyVerifier
from generator.evidence import Sentence
from indexing.cached_property import cached_property
from indexing.text.terms import Rarity, strip_annotations

LENGTH = 600
"""Most characters of the sentences of an excerpt; a longer sentence stands alone."""

_LONGEST_GAP = 120  # characters between neighbours: a speaker's label, a heading


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Neighbouring sentences of one document, at least one."""

    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """What they say, each utterance after its speaker's label, without annotations."""
        return " ".join(filter(None, self._parts()))

    def _parts(self) -> Iterator[str]:
        utterance: int | None = None
        for sentence in self.sentences:
            if sentence.speaker and sentence.utterance != utterance:
                yield f"{sentence.speaker}:"
            utterance = sentence.utterance
            yield " ".join(strip_annotations(sentence.text).split())


def excerpts(sentences: Iterable[Sentence], *, length: int = LENGTH) -> list[Excerpt]:
    """The sentences in excerpts, in reading order."""
    order = sorted(sentences, key=lambda each: (each.document.id, each.start))
    groups: list[list[Sentence]] = []
    for sentence in order:
        if groups and _belongs(groups[-1], sentence, length):
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    return [Excerpt(tuple(group)) for group in groups]


def _belongs(group: Sequence[Sentence], sentence: Sentence, length: int) -> bool:
    """Whether a sentence goes on from a group and has room in it."""
    near = 0 <= sentence.start - group[-1].end <= _LONGEST_GAP
    size = sum(each.end - each.start for each in group) + sentence.end - sentence.start
    return sentence.document.id == group[-1].document.id and near and size <= length


MOST = 3
"""Excerpts that the verifier reads for a sentence."""
THRESHOLD = 0.6
"""Least probability of a supported sentence, whose words the excerpt has."""
SHARE = 0.5
"""Least share of those words, weighted by rarity."""
SURE = 0.93
"""Least probability whatever the words."""

_GATHERED = 4  # sentences, at most
_GAIN = 0.05  # share of the claim's words that one more sentence has to bring
_SELF_CONTAINED = 3  # content words from which a sentence is read without its question
_OPPOSED = 0.5  # overlap from which a single sentence may deny what is claimed


@dataclass(frozen=True, slots=True)
class ParsedExcerpt:
    """An excerpt, parsed: as a whole, and each of its sentences."""

    excerpt: Excerpt
    whole: ParsedSentence
    sentences: tuple[ParsedSentence, ...]
    about: frozenset[str]


class ExcerptSupport:
    """The excerpts of one answer's evidence; rarity and ordinary words are as of `Citer`."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        verifier: AnyVerifier,
        rarity: Rarity,
        ordinary: Container[str],
    ) -> None:
        self._sentences, self._verifier = sentences, verifier
        self._rarity, self._ordinary = rarity, ordinary

    @cached_property
    def _excerpts(self) -> list[ParsedExcerpt]:
        return [self._parsed(excerpt) for excerpt in excerpts(self._sentences)]

    def _parsed(self, excerpt: Excerpt) -> ParsedExcerpt:
        return ParsedExcerpt(
            excerpt,
            parse_sentence(excerpt.text, ordinary=self._ordinary),
            tuple(parse_sentence(each.text, ordinary=self._ordinary) for each in excerpt.sentences),
            stems_of_names(excerpt.sentences[0].document.title),
        )

    def find(self, sentence: str, claim: ParsedSentence, *, question: str = "") -> Citation | None:
        """The excerpt that supports a sentence, as a citation without a marker; None for none."""
        candidates = self.candidates(claim)
        if not candidates:
            return None
        short = question and len(claim.stems) < _SELF_CONTAINED
        text = f"{question} {sentence}" if short else sentence
        texts = [each.excerpt.text for _, each in candidates]
        probabilities = self._verifier.probabilities(text, texts)
        likely = [
            (float(probability), share, one)
            for probability, (share, one) in zip(probabilities, candidates, strict=True)
            if probability >= (THRESHOLD if share >= SHARE else SURE)
        ]
        if not likely:
            return None
        probability, share, excerpt = max(likely, key=lambda each: each[0])
        return _citation(claim, excerpt, share, probability)

    def candidates(self, claim: ParsedSentence) -> list[tuple[float, ParsedExcerpt]]:
        """The excerpts for the verifier, each after the share of the claim's words that it has."""
        every = [*self._gathered(claim), *self.ranked(claim)]
        allowed = (each for each in every if not self.is_vetoed(claim, each[1]))
        return list(islice(allowed, MOST))

    def _gathered(self, claim: ParsedSentence) -> Iterator[tuple[float, ParsedExcerpt]]:
        """The sentences of a document that have a claim's words between them; none for one."""
        wanted = {*claim.stems}
        found = [self._gather(wanted, group) for group in self._by_document]
        best = max(found, key=lambda each: self._share(wanted, each), default=[])
        if len(best) > 1:
            inside = sorted((self._sentences[i] for i in best), key=lambda each: each.start)
            one = self._parsed(Excerpt(tuple(inside)))
            yield overlap(claim, one.whole, about=one.about, rarity=self._rarity), one

    def _gather(self, wanted: set[str], group: Sequence[int]) -> list[int]:
        """Sentence by sentence the one that has most of the words that the others lack."""
        chosen: list[int] = []
        while len(chosen) < min(_GATHERED, len(group)):
            rest = (i for i in group if i not in chosen)
            best = max(rest, key=lambda i: self._share(wanted, [*chosen, i]))
            size = sum(len(self._sentences[i].text) for i in [*chosen, best])
            gain = self._share(wanted, [*chosen, best]) - self._share(wanted, chosen)
            if gain < _GAIN or (chosen and size > LENGTH):
                break
            chosen.append(best)
        return chosen

    def _share(self, wanted: set[str], numbers: Sequence[int]) -> float:
        return self._rarity.share(wanted, frozenset().union(*(self._stems[i] for i in numbers)))

    @cached_property
    def _by_document(self) -> list[list[int]]:
        groups: dict[str, list[int]] = {}
        for number, sentence in enumerate(self._sentences):
            groups.setdefault(sentence.document.id, []).append(number)
        return list(groups.values())

    @cached_property
    def _stems(self) -> list[frozenset[str]]:
        """Of each sentence what it says, and who."""
        return [
            frozenset(parse_sentence(each.text, ordinary=self._ordinary).stems)
            | stems_of_names(each.speaker or "")
            for each in self._sentences
        ]

    def ranked(self, claim: ParsedSentence) -> list[tuple[float, ParsedExcerpt]]:
        """The excerpts that share words with a claim, most first, each after its share."""
        shares = [
            (overlap(claim, each.whole, about=each.about, rarity=self._rarity), each)
            for each in self._excerpts
        ]
        return sorted((each for each in shares if each[0] > 0), key=lambda each: -each[0])

    def is_vetoed(self, claim: ParsedSentence, excerpt: ParsedExcerpt) -> bool:
        """Whether the excerpt lacks a number or name, or its nearest sentence says the opposite."""
        if find_veto(claim, excerpt.whole, about=excerpt.about) is not None:
            return True
        nearest = max(excerpt.sentences, key=lambda each: overlap(claim, each, rarity=self._rarity))
        near = overlap(claim, nearest, rarity=self._rarity) >= _OPPOSED
        return near and (is_opposite(claim, nearest) or self._is_only_asked(claim, excerpt))

    def _is_only_asked(self, claim: ParsedSentence, excerpt: ParsedExcerpt) -> bool:
        pairs = zip(excerpt.excerpt.sentences, excerpt.sentences, strict=True)
        read = [ReadSentence(sentence.text, parsed) for sentence, parsed in pairs]
        return is_only_asked(claim, read, following="", rarity=self._rarity)


def _citation(
    claim: ParsedSentence, of: ParsedExcerpt, share: float, probability: float
) -> Citation:
    """All of an excerpt; of sentences that stand far apart, the one with most of the claim."""
    sentences = of.excerpt.sentences
    first, last = sentences[0], sentences[-1]
    if last.end - first.start > LENGTH and len(sentences) > 1:
        counts = [len({*claim.stems} & {*each.stems}) for each in of.sentences]
        first = last = sentences[counts.index(max(counts))]
    return replace(
        first.cited(end=last.end), supported=True, overlap=share, probability=round(probability, 4)
    )
