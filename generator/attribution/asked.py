"""What was only asked: a question in the evidence says nothing, unless somebody affirms it.

"Does the price include the box?" does not support "The price includes the box." A sentence that
says who asked is supported by the question itself.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from generator.attribution.entailment_rules import ParsedSentence, overlap, parse_sentence
from generator.evidence import Sentence
from indexing.text.terms import Rarity, stem

_STATED = 0.5  # share of the claim's words that statements have to hold
_ASKING_WORDS = "ask asks asked question wonder wondered whether inquired"
_ASKING = frozenset(stem(word) for word in _ASKING_WORDS.split())
_YES = re.compile(
    r"\W*(?:(?:and|oh|well|so|mhm?|um|uh)\b\W*)*"
    r"(?:(?:yes|yeah|yep|yup|exactly|right|correct|indeed|absolutely|certainly|definitely|of course"
    r"|sure|precisely|agreed|that'?s (?:right|correct|true|it))\b"
    r"|(?:it|they|we|i|he|she|you) (?:do|does|did|is|are|am|was|were|will|can|has|have)"
    r"\s*(?:[.,!]|\Z))"
    r"(?!\W*(?:but|not|if|unless)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of the evidence: as it is, and parsed."""

    text: str
    parsed: ParsedSentence


def read_sentences(
    sentences: Iterable[Sentence], *, ordinary: Container[str] = ()
) -> list[ReadSentence]:
    """Sentences of evidence, parsed; `ordinary` as of `parse_sentence`."""
    return [
        ReadSentence(one.text, parse_sentence(one.text, ordinary=ordinary)) for one in sentences
    ]


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip(" \t\n\"'\u2019\u201d)]").endswith("?")


def is_only_asked(
    claim: ParsedSentence, sentences: Sequence[ReadSentence], *, following: str, rarity: Rarity
) -> bool:
    """Whether neighbouring sentences, which `following` follows, only ask what a claim states."""
    if not _ASKING.isdisjoint(claim.norms) or not any(is_question(one.text) for one in sentences):
        return False
    after = [*(one.text for one in sentences[1:]), following]
    affirmed = [
        is_question(one.text) and _YES.match(reply) is not None
        for one, reply in zip(sentences, after, strict=True)
    ]
    stems = tuple(
        word
        for one, sure in zip(sentences, affirmed, strict=True)
        if sure or not is_question(one.text)
        for word in one.parsed.stems
    )
    return overlap(claim, ParsedSentence(stems, (), (), ()), rarity=rarity) < _STATED
