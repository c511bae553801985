"""Decisions, actions and open questions, recognised by the words with which people say them.

A question, a condition, a negation or a report of what somebody hoped commits nobody. Minutes say
it by labels ("Action: ..."), by headings ("Open questions") and in the rows of tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

from generator.evidence import Sentence
from generator.overview.blocks import Block, Statement
from generator.overview.commitment_words import (
    ACCEPTANCE,
    AFTER,
    ANNOUNCED,
    AT_END,
    COLUMNS,
    DECISION,
    ERRAND,
    HEADINGS,
    LABEL,
    NAMED,
    NAMED_TO,
    NAMED_UNTIL,
    NAMES,
    PROMISE,
    PROMISE_UNTIL,
    PROPOSAL,
    QUESTION,
    REQUEST,
    TO_DO,
    UNCERTAIN,
)
from generator.overview.people import People
from generator.overview.telling_sentence import is_heading
from generator.overview.times import is_deadline, time_expression
from indexing.text.change_words import AGREED
from indexing.text.disfluency import remove_disfluencies
from indexing.text.tables import SEPARATOR, is_row
from indexing.text.terms import content_stems

LONGEST = 60  # words of a sentence that is quoted

CommitmentKind = Literal["decision", "action", "question"]
KINDS: tuple[CommitmentKind, ...] = get_args(CommitmentKind)

_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013]|\d{1,2}[.)]|\[[ xX]?\])\s+")
_LEADING = re.compile(rf"[\W\d]*(?P<who>{NAMES})(?:\s+to\b|\s*(?:\*\*)?:|\s+[\u2013\u2014-]\s)")
_MARKS = "#*_-: \t0123456789.)"


@dataclass(frozen=True, slots=True)
class Commitment:
    """What was decided, what somebody is to do, or what is still open."""

    kind: CommitmentKind
    sentence: Sentence
    who: str | None = None  # who is to do it, as far as the sentence tells
    when: str | None = None  # the words that say when; None where there are none


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement, and what surrounds it."""

    statement: Statement
    text: str  # its words, as of `_words`
    block: Block
    after: Statement | None
    answers: bool  # whether somebody else says what is after it


def commitments(blocks: Sequence[Block], people: People | None = None) -> list[Commitment]:
    """Decisions, actions and open questions of a document, in order.

    Those who may be named in it are the people, None for those who speak.
    """
    people = people or People({block.speaker for block in blocks if block.speaker})
    section = _Section()
    found: list[Commitment] = []
    ends: dict[CommitmentKind, int] = {}
    for place in _places(blocks):
        item = section.item(place)
        for each in _of_item(place, item, people) if item else _of_statement(place, people):
            if each.sentence.start >= ends.get(each.kind, 0):
                found.append(each)
                ends[each.kind] = each.sentence.end
    return found


def _words(sentence: Sentence) -> str:
    """The words of a sentence; those of speech as they would be written ("I'll" for "I 'll")."""
    return sentence.text if sentence.utterance is None else remove_disfluencies(sentence.text)


def _places(blocks: Sequence[Block]) -> Iterator[_Place]:
    every = [(statement, block) for block in blocks for statement in block.statements]
    for (statement, block), (after, other) in pairwise([*every, (None, None)]):
        if statement is not None and block is not None and statement.words <= LONGEST:
            answers = other is not None and other.speaker not in {None, block.speaker}
            yield _Place(statement, _words(statement.sentence), block, after, answers)


class _Section:
    """Which kind of items stand below the last heading."""

    def __init__(self) -> None:
        self._kind: CommitmentKind | None = None
        self._bulleted: bool | None = None

    def item(self, place: _Place) -> CommitmentKind | None:
        """The kind of a statement which is an item below a heading; None for no such item."""
        sentence = place.statement.sentence
        text = sentence.document.text
        start = text.rfind("\n", 0, sentence.start) + 1
        end = text.find("\n", sentence.start)
        line = text[start : len(text) if end < 0 else end]
        bare = line.strip(_MARKS)
        heading = _heading(bare)
        if heading or self._kind is None:
            self._kind, self._bulleted = heading, None
            return None
        if line.lstrip().startswith("#") or bare.startswith("TOP ") or is_heading(sentence):
            self._kind = None
            return None
        if text[start : sentence.start].strip(f"{_MARKS}+\u2022\u2013[]xX") or is_row(line):
            return None
        bulleted = _BULLET.match(line) is not None
        if self._bulleted is None:
            self._bulleted = bulleted
        elif not bulleted and (self._bulleted or text[max(0, start - 2) : start] == "\n\n"):
            self._kind = None
        return self._kind


def _heading(line: str) -> CommitmentKind | None:
    """The kind of items that a line announces, without its marks; None for another line."""
    return next((kind for kind in KINDS if HEADINGS[kind].fullmatch(line)), None)


def _of_item(place: _Place, kind: CommitmentKind, people: People) -> Iterator[Commitment]:
    sentence = place.statement.sentence
    if kind != "action":
        yield Commitment(kind, sentence, None, time_expression(place.text))
    elif place.statement.stems:
        who = _assignee(place.text, people) or place.block.speaker
        yield Commitment(kind, sentence, who, time_expression(place.text))


def _of_statement(place: _Place, people: People) -> Iterator[Commitment]:
    text, sentence = place.text, place.statement.sentence
    asks = text.rstrip().endswith("?")
    if sentence.utterance is None and _heading(text.strip(_MARKS)):
        return
    if is_row(text):
        yield from _of_row(sentence, people)
        return
    if action := _requested(place, people) or (None if asks else _action(place, people)):
        yield action
    elif not asks and (decision := _decision(place)):
        yield decision
    question = QUESTION.search(text)
    if question and (not asks or ":" in question[0]) and not _is_supposed(text[: question.end()]):
        yield Commitment("question", sentence)


def _of_row(sentence: Sentence, people: People) -> Iterator[Commitment]:
    """The action of a row of a table that has columns for what is to be done and by whom."""
    cells = {}
    for cell in sentence.read.split(SEPARATOR):
        name, _, value = cell.partition(": ")
        column = next((key for key, form in COLUMNS.items() if form.fullmatch(name.strip())), "")
        cells[column] = value.strip(" |")
    if cells.get("what") and "who" in cells:
        when = cells.get("when", "")
        who = people.whole(cells["who"]) or None
        yield Commitment("action", sentence, who, time_expression(when) or when or None)


def _requested(place: _Place, people: People) -> Commitment | None:
    """What somebody is asked to do and says yes to."""
    match = REQUEST.search(place.text)
    if match is None or place.after is None or not place.answers or _is_supposed(place.text):
        return None
    answerer, asked = place.after.sentence.speaker, match["who"] or match["name"]
    if not answerer or not ACCEPTANCE.match(_words(place.after.sentence)):
        return None
    if asked and people.is_known(asked) and people.whole(asked) != people.whole(answerer):
        return None
    sentence = place.statement.sentence
    return Commitment("action", sentence, people.whole(answerer), time_expression(place.text))


def _action(place: _Place, people: People) -> Commitment | None:
    text, sentence = place.text, place.statement.sentence
    for pattern in (LABEL, PROMISE, NAMED, NAMED_TO, PROMISE_UNTIL, *NAMED_UNTIL):
        match = pattern.search(text)
        if match is None or not (pattern is LABEL or _says_what(text, match)):
            continue
        when = time_expression(text[match.start() :])
        if not when and not content_stems(text[match.end() :]) and pattern not in {NAMED}:
            continue
        if pattern in {PROMISE_UNTIL, *NAMED_UNTIL} and not (when and is_deadline(when)):
            continue
        if pattern in {NAMED, NAMED_TO, *NAMED_UNTIL} and not people.is_known(match["who"]):
            continue
        return Commitment("action", sentence, _who(pattern, match, sentence, people), when)
    return None


def _who(
    pattern: re.Pattern[str], match: re.Match[str], sentence: Sentence, people: People
) -> str | None:
    """Who is to do it: whom the sentence names, or its speaker for "I"."""
    if pattern in {PROMISE, PROMISE_UNTIL}:
        return sentence.speaker
    if pattern is not LABEL:
        return people.whole(match["who"])
    labelled = re.match(NAMES, match["who"] or "")
    if labelled:
        return people.whole(labelled[0])
    return _assignee(match.string[match.end() :], people)


def _assignee(text: str, people: People) -> str | None:
    """Whom an item names: before what is to be done, or behind it."""
    for pattern in (_LEADING, TO_DO, AFTER):
        match = pattern.match(text) if pattern is _LEADING else pattern.search(text)
        if match:
            return people.whole(match["who"])
    first = re.match(rf"[\W\d]*({NAMES})\s", text)
    names = first[1].split() if first else []
    known = [" ".join(names[:n]) for n in range(len(names), 0, -1)]  # "Maren Notes", who notes
    return next((people.whole(each) for each in known if people.is_known(each)), None)


def _decision(place: _Place) -> Commitment | None:
    """What is decided; a sentence that only announces it goes on with the next one."""
    text, sentence, after = place.text, place.statement.sentence, place.after
    match = DECISION.search(text)
    if ANNOUNCED.fullmatch(text) or (match and text[match.end() :].strip(" *_") == ""):
        whole = _with_next(place)
        if whole or match is None or not match[0].lower().endswith(AT_END):
            return Commitment("decision", whole) if whole else None
    if PROPOSAL.search(text) and after is not None and AGREED.search(_words(after.sentence)):
        return Commitment("decision", sentence) if place.statement.stems else None
    if match is None or not _says_what(text, match):
        return None
    at_end = match[0].lower().endswith(AT_END)
    content = content_stems(text[: match.end()] if at_end else text[match.end() :])
    return Commitment("decision", sentence) if content else None


def _with_next(place: _Place) -> Sentence | None:
    """A sentence together with the next one, where the same person says it."""
    sentence, after = place.statement.sentence, place.after
    if after is None or after.sentence.utterance != sentence.utterance or not after.stems:
        return None
    if after.words > LONGEST or after.sentence.text.endswith("?"):
        return None
    return replace(sentence, end=after.sentence.end)


def _says_what(text: str, match: re.Match[str]) -> bool:
    """Whether a commitment is certain, about more than what happens next in the meeting."""
    return not UNCERTAIN.search(text[: match.end()]) and not ERRAND.search(text)


def _is_supposed(text: str) -> bool:
    return re.search(r"\b(?:if|wenn|falls|no longer|nicht mehr)\b", text, re.IGNORECASE) is not None
