"""A sentence that says its question again, with the words that answer it -> where they stand.

"The bin holds six bottles of shampoo." has most of its words from its question, and no sentence of
the evidence may have them. So the reader finds the words that answer by the question alone, and the
sentence is supported by the sentence around them when

- a stretch answers the question at all (`ANSWERABLE`), which near misses have none of;
- the claim repeats the question: in its order, or with what is asked for at its end, without its
  opposite or a denial (`entailment_rules.repeats`), and none of its names and numbers is replaced;
- what it adds is in that sentence, in the same order, and is or holds the reader's words;
- no name or number is without evidence, and nothing that was so only before it changed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from generator.answer import Citation
from generator.attribution.entailment_rules import (
    SAYS_NOTHING,
    ParsedSentence,
    is_reordered,
    is_superseded,
    order_agreement,
    parse_sentence,
    repeats,
    stems_of_names,
)
from generator.evidence import Sentence
from generator.reader.reading import AnyReader, Words
from indexing.cached_property import cached_property
from indexing.text.terms import Rarity

ANSWERABLE = 1.0
"""Least logit that the stretch answers."""
ADDED = 0.75
"""Least share of what the claim adds that is in the sentence, and in its order."""
NEAR = 1.5
"""How much less than the best words' score others may have."""
_SAID = 0.5  # share of the reader's words that the claim has to have
_MOST = 3  # of the reader's sentences
_INVERTED = re.compile(
    r"(?P<asked>\S.*?)\s(?P<rest>(?:do|does|did|will|would|can|could|should|must|may|might|has|have|had"
    r"|is|are|was|were)\s.*)",
    re.IGNORECASE | re.DOTALL,
)


class Restatements:
    """What the reader finds in one answer's evidence; rarity and ordinary words as of `Citer`."""

    def __init__(
        self,
        question: str,
        sentences: Sequence[Sentence],
        reader: AnyReader,
        rarity: Rarity,
        ordinary: Container[str],
    ) -> None:
        self._sentences, self._reader = sentences, reader
        self._rarity, self._ordinary = rarity, ordinary
        self._text, self._question = question, parse_sentence(question, ordinary=ordinary)
        inverted = _INVERTED.match(question)
        turned = f"{inverted['rest']} {inverted['asked']}" if inverted else question
        self._turned = parse_sentence(turned, ordinary=ordinary)

    @cached_property
    def _found(self) -> list[tuple[int, Words]]:
        """The best words, each after the number of its sentence."""
        reading = self._reader.read(self._text, self._sentences)
        found = [(at, words) for at, words in enumerate(reading.words) if words is not None]
        found.sort(key=lambda one: -one[1].score)
        return [
            (at, words)
            for at, words in found[:_MOST]
            if words.score >= found[0][1].score - NEAR and reading.answerable[at] >= ANSWERABLE
        ]

    def find(self, claim: ParsedSentence) -> Citation | None:
        """The sentence with the words that a claim answers its question with; None for none."""
        if not (repeats(claim, self._question) or repeats(claim, self._turned)):
            return None
        cited = (each for at, words in self._found for each in self._cited(claim, at, words))
        return next(cited, None)

    def _cited(self, claim: ParsedSentence, at: int, words: Words) -> Iterator[Citation]:
        sentence, known = self._sentences[at], {*self._question.stems}
        answer = self._parsed(sentence.document.text[words.start : words.end])
        here = self._parsed(sentence.read)
        added = [stem for stem in claim.stems if stem not in known | SAYS_NOTHING]
        asked = [stem for stem in answer.stems if stem not in known] or answer.stems
        share = self._rarity.share(added, here.stems) if added else 1.0
        if (
            share >= ADDED
            and order_agreement(replace(claim, stems=tuple(added)), here) >= (ADDED if added else 0)
            and not is_reordered([fact for fact in claim.facts if fact in added], here)
            and self._rarity.share(asked, claim.stems) >= _SAID
            and self._has_facts(claim, at, answer)
            and (claim.denials or not any({*asked} <= denial for denial in here.denials))
            and not is_superseded(claim, here)
        ):
            yield replace(sentence.cited(), supported=True, overlap=share)

    def _has_facts(self, claim: ParsedSentence, at: int, answer: ParsedSentence) -> bool:
        """Whether names and numbers are near, or in the evidence where the question has them."""
        near = self._parsed(" ".join(one.read for one in self._sentences[max(0, at - 1) : at + 2]))
        about = stems_of_names(
            self._sentences[at].document.title, self._sentences[at].speaker or ""
        )
        asked = self._question.norms
        replaced = not {*self._question.facts} <= {*claim.norms}
        for fact in claim.facts:
            if fact in asked:
                if fact not in self._everywhere and fact not in about:
                    return False
            elif (fact not in near.norms and fact not in about) or (
                replaced and fact not in answer.norms
            ):
                return False
        return True

    @cached_property
    def _everywhere(self) -> frozenset[str]:
        return frozenset(norm for one in self._sentences for norm in self._parsed(one.read).norms)

    def _parsed(self, text: str) -> ParsedSentence:
        return parse_sentence(text, ordinary=self._ordinary)
