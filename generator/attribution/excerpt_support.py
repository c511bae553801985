"""A sentence of an answer -> the excerpt of the evidence that says it in other words, or none.

Of all excerpts without a veto of the rules (`entailment_rules.find_veto`), the `MOST` that share
most of the sentence's content words go to the verifier; the most probable one supports the
sentence from `THRESHOLD` on.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
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
from generator.attribution.excerpt import Excerpt, excerpts
from generator.attribution.verifier import AnyVerifier
from generator.evidence import Sentence
from indexing.cached_property import cached_property
from indexing.text.terms import Rarity

MOST = 3
"""Excerpts that the verifier reads for a sentence."""
THRESHOLD = 0.93
"""Least probability of a supported sentence."""

_SELF_CONTAINED = 3  # content words from which a sentence is read without its question
_OPPOSED = 0.5  # overlap from which a single sentence may deny what is claimed


@dataclass(frozen=True, slots=True)
class ParsedExcerpt:
    """An excerpt, parsed: as a whole, and each of its sentences.

    Attributes:
        excerpt: The excerpt.
        whole: What it says.
        sentences: What each of its sentences says.
        about: Stems of its document's title.
    """

    excerpt: Excerpt
    whole: ParsedSentence
    sentences: tuple[ParsedSentence, ...]
    about: frozenset[str]


class ExcerptSupport:
    """The excerpts of one answer's evidence.

    Args:
        sentences: Of the evidence.
        verifier: Gives probabilities.
        rarity: Of stems, among the sentences.
        ordinary: Lower-case words that are no names although a sentence may start with them.
    """

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
        """The excerpt that supports a sentence, as a citation without a marker; None for none.

        Args:
            sentence: Of an answer.
            claim: The same, parsed.
            question: What is answered; read before a sentence of a few words.
        """
        candidates = self.candidates(claim)
        if not candidates:
            return None
        short = question and len(claim.stems) < _SELF_CONTAINED
        text = f"{question} {sentence}" if short else sentence
        texts = [each.excerpt.text for _, each in candidates]
        probabilities = self._verifier.probabilities(text, texts)
        best = int(probabilities.argmax())
        if probabilities[best] < THRESHOLD:
            return None
        share, excerpt = candidates[best]
        return _citation(excerpt.excerpt, share, float(probabilities[best]))

    def candidates(self, claim: ParsedSentence) -> list[tuple[float, ParsedExcerpt]]:
        """The excerpts for the verifier, each after the share of the claim's words that it has."""
        allowed = (each for each in self.ranked(claim) if not self.is_vetoed(claim, each[1]))
        return list(islice(allowed, MOST))

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


def _citation(excerpt: Excerpt, share: float, probability: float) -> Citation:
    return replace(
        excerpt.sentences[0].cited(end=excerpt.sentences[-1].end),
        supported=True,
        overlap=share,
        probability=round(probability, 4),
    )
