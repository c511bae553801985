"""Questions that a document might answer, made from its own sentences by templates.

Each knows the sentence it comes from: it is kept only if an answer quotes that one (`suggestions`).
English only; a document in another language gives none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.overview.blocks import blocks
from indexing.text.english import SCALES, TENS, UNITS

if TYPE_CHECKING:
    from generator.evidence import Sentence
    from generator.overview.overview import Overview
    from indexing.documents import Document

LONGEST = 90  # characters of a question
MOST = 12  # of a document
SHORTEST = 4  # words

Ask = Callable[[re.Match[str]], str]

_NUMBER = rf"(?:\d[\d,.]*|{'|'.join((*UNITS, *TENS))})(?:[- ](?:{'|'.join((*UNITS, *SCALES))}))*"
_THING = r"(?P<thing>(?:[Tt]he|[Aa]n?|[Ee]ach|[Ee]very) [\w' -]{3,45}?)"
_TIME = r"(?:second|minute|hour|day|week|month|year)s?\b"
_DATE = (
    r"(?:\d|the [a-z-]+ of |(?:early |late |the )?(?:spring|summer|autumn|winter)\b"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|(?:Jan|Febr)uary\b|March\b|April\b|May\b|June\b|July\b|August\b"
    r"|(?:Septem|Octo|Novem|Decem)ber\b)"
)
_LEANS = re.compile(
    r"\b(?:it|its|he|she|him|her|his|hers|they|them|their|we|us|our|you|your|my|mine|me|i|this|that"
    r"|these|those|there|here|then|so|such|one|ones|same|other|another|something|today|tomorrow)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, and the span that it was made from.

    Attributes:
        question: What is asked.
        start: First character of a sentence, or of a part about one thing.
        end: One past its last.
        general: Whether it asks for what is said of a thing, and not for one fact.
    """

    question: str
    start: int
    end: int
    general: bool = False


def _passive(match: re.Match[str]) -> str:
    thing, verb = _lower(match["thing"]), match["verb"]
    if match["who"]:
        return f"Who {verb} {thing}?"
    return f"When {match['be']} {thing} {verb}?"


_TEMPLATES: tuple[tuple[re.Pattern[str], Ask], ...] = (
    (
        re.compile(
            rf"^{_THING} (?P<be>was|were) (?P<verb>founded|built|opened|launched|edited|written"
            r"|designed|introduced|closed|adopted|approved|started|published|signed) "
            rf"(?:(?P<who>by) (?:[A-Z]|an? |the )|(?:in|on) {_DATE})"
        ),
        _passive,
    ),
    (
        re.compile(rf"^{_THING} had {_NUMBER} (?P<many>[a-z]+s)\b"),
        lambda m: f"How many {m['many']} did {_lower(m['thing'])} have?",
    ),
    (
        re.compile(
            rf"^(?P<who>You|Employees|Members) (?:have|get) {_NUMBER}"
            r" (?P<many>(?:[a-z]+ )?[a-z]+s(?: of [a-z]+(?: leave| time)?)?)\b"
        ),
        lambda m: f"How many {m['many']} do {_lower(m['who'])} have?",
    ),
    (
        re.compile(
            rf"^(?P<many>[A-Z][a-z]+) (?P<be>was|were) (?P<verb>[a-z]+(?:ed|en|und|ght))"
            rf"(?P<where> (?:on|at|in) [a-z ]{{3,20}}?)?(?: at [a-z]+ [a-z]+)?, {_NUMBER} in all"
        ),
        lambda m: f"How many {_lower(m['many'])} {m['be']} {m['verb']}{m['where'] or ''}?",
    ),
    (
        re.compile(rf"^{_THING} (?:costs?|would cost) (?:about |around )?(?:[£$€]|{_NUMBER} )"),
        lambda m: f"How much does {_lower(m['thing'])} cost?",
    ),
    (
        re.compile(
            rf"^{_THING} (?P<verb>last|take)s (?:about |at most )?(?:an?|{_NUMBER}) {_TIME}"
        ),
        lambda m: f"How long does {_lower(m['thing'])} {m['verb']}?",
    ),
    (
        re.compile(r"[\"\u201c](?P<term>[A-Z][\w -]{2,40})[\"\u201d] means "),
        lambda m: f'What does "{m["term"]}" mean?',
    ),
    (
        re.compile(
            r"\bdecided[:,]? (?:that |on )?.*?\b(?:for|about|on) the "
            r"(?P<thing>[a-z-]+(?: [a-z-]+)?)[,.]"
        ),
        lambda m: f"What was decided about the {m['thing']}?",
    ),
    (
        re.compile(
            r"\bdecided[:,]? (?:that |on )?(?:the )?(?P<thing>[A-Za-z-]+(?: [a-z-]+)?) "
            r"(?:is|are|goes|stays|will|moves) "
        ),
        lambda m: f"What was decided about {_the(m['thing'])}?",
    ),
)
_PROMISES: tuple[tuple[re.Pattern[str], Ask], ...] = (
    (
        re.compile(r"^(?:And |So |Then |OK, )*I'll (?P<what>[a-z]+ [\w' -]{4,50})\.$"),
        lambda m: f"Who will {m['what']}?",
    ),
    (
        re.compile(r"^[A-Z][a-z]+ (?:[A-Z][a-z]+ )?will (?P<what>[a-z]+ [\w' -]{4,50})\.$"),
        lambda m: f"Who will {m['what']}?",
    ),
)
"""Templates of what somebody is to do, for the sentences in which an overview finds that."""


def candidates(document: Document, about: Overview) -> list[Candidate]:
    """Questions of a document, the most telling first."""
    ranked = sorted(_from_sentences(document, about), key=lambda pair: pair[0])
    found: dict[str, Candidate] = {}
    for candidate in (*(one for _, one in ranked), *_from_topics(document, about)):
        found.setdefault(candidate.question, candidate)
    return list(found.values())[:MOST]


def _from_sentences(document: Document, about: Overview) -> Iterator[tuple[int, Candidate]]:
    """Candidates, each with its rank: the first of every template before the second of one."""
    promises = {each.quote.start for each in about.actions}
    given: Counter[int] = Counter()
    for block in blocks(document):
        for sentence in (each.sentence for each in block.statements):
            templates = _PROMISES + _TEMPLATES if sentence.start in promises else _TEMPLATES
            for number, (pattern, ask) in enumerate(templates):
                if question := _question(sentence, pattern, ask):
                    given[number] += 1
                    rank = given[number] * 100 + number
                    yield rank, Candidate(question, sentence.start, sentence.end)
                    break


def _question(sentence: Sentence, pattern: re.Pattern[str], ask: Ask) -> str:
    """The question of a sentence; "" if it is none that stands by itself."""
    match = pattern.search(" ".join(sentence.text.split()))
    question = ask(match) if match else ""
    bare = question.removesuffix(" do you have?")
    is_whole = len(question.split()) >= SHORTEST and len(question) <= LONGEST
    return question if is_whole and not _LEANS.search(bare) else ""


def _from_topics(document: Document, about: Overview) -> Iterator[Candidate]:
    """A question on each topic, where sentences give too few: on a thing that is named in it."""
    verb = "was" if about.speakers else "is"
    for topic in about.topics:
        text = document.text[topic.start : topic.end]
        for word in topic.keywords:
            if len(re.findall(rf"\bthe {re.escape(word)}\b", text)) > 2:
                question = f"What {verb} said about the {word}?"
                yield Candidate(question, topic.start, topic.end, general=True)
                break


def _lower(text: str) -> str:
    """A phrase as it stands within a sentence."""
    return text[:1].lower() + text[1:]


def _the(thing: str) -> str:
    """A noun with its article; a name without."""
    return thing if thing[:1].isupper() else f"the {thing}"
