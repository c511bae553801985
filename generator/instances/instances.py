"""Every place that was found, a page of them, and how many there probably are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from generator.extractive.question.answer_slot import asked_slot, fills
from generator.extractive.question.answer_type import classify_question, has_answer_type
from generator.instances.estimate import Estimate, estimate
from generator.instances.places import Place
from indexing.documents import Hit, PassageHit
from indexing.text.language import language_of
from indexing.text.terms import content_stems, stem

LEAST = 0.2
"""The probability from which a place is shown."""
_HOW_OFTEN = re.compile(r"\bhow (?:often|many times)\b|\bwie (?:oft|häufig)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|wie ?viele) (\w+)", re.IGNORECASE)
_TIMES = re.compile(r"\b(?:once|twice|times|(?:ein|zwei|drei|vier)?mal)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instances:
    """A page of the places where documents say what was asked for.

    Attributes:
        question: As it was read.
        places: Those of the page, document by document from the earliest on, in reading order.
        start: How many places come before them.
        found: How many that may say it (`LEAST`) were found, on all pages.
        estimate: How many there probably are, those that were missed included; it weighs each by
            its probability, so that it may be below `found`.
        counts: Whether a number was asked for.
        stated: The best place that says one; None where none was found, so that `found` is a count
            that perhaps no document says.
        read: All that was read, shown or not.
        days: The day or month of each document, by id; "" for one without a date.
    """

    question: str
    places: tuple[Place, ...]
    start: int
    found: int
    estimate: Estimate
    counts: bool = False
    stated: Place | None = None
    read: tuple[Place, ...] = ()
    days: Mapping[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether a number was asked for, and no place that says it was found."""
        return self.counts and self.stated is None

    @property
    def hits(self) -> list[Hit]:
        """The places of the page as a search gives them: statements for passages."""
        return self.as_hits(self.places)

    def as_hits(self, some: Sequence[Place]) -> list[Hit]:
        """Some of the places, by document; scores are probabilities."""
        groups = (list(each) for _, each in groupby(some, key=_id))
        return [
            Hit(
                document=document.id,
                title=document.title,
                path=document.path,
                part=document.part,
                score=max(one.probability for one in group),
                passages=tuple(map(_passage, group)),
                day=self.days.get(document.id, ""),
            )
            for group in groups
            for document in [group[0].document]
        ]


def instances(question: str, every: Sequence[Place], *, start: int, page: int) -> Instances:
    """A page, from `start` on, of the places that probably are those asked for, of all read."""
    from generator.extractive.latest import document_days  # it loads the reader

    about = estimate([one.probability for one in every], [one.both for one in every])
    found = [one for one in every if one.probability >= LEAST]
    days = document_days({_id(one): one.document for one in found})

    def order(one: Place) -> tuple[bool, str, str, str, int]:
        day = days[_id(one)]
        return not day, day, one.document.title, _id(one), one.statement.start

    found.sort(key=order)
    counts = classify_question(question) == "quantity"
    numbers = [one for one in found if counts and _has_number(question, one)]
    stated = max(numbers, key=lambda one: one.probability, default=None)
    shown = tuple(found[start : start + page])
    return Instances(question, shown, start, len(found), about, counts, stated, tuple(every), days)


def _has_number(question: str, place: Place) -> bool:
    """Whether the words that answer are the number: of times, of what is counted, or a value."""
    if _HOW_OFTEN.search(question):
        return _TIMES.search(place.words) is not None
    slot = asked_slot(question)
    if not (
        fills(slot, question, place.words) if slot else has_answer_type("quantity", place.words)
    ):
        return False
    counted, language = _HOW_MANY.search(question), language_of(place.document.text)
    stems = content_stems(place.statement.text, language)
    return counted is None or stem(counted[1].lower(), language) in stems


def _id(place: Place) -> str:
    return place.document.id


def _passage(place: Place) -> PassageHit:
    one = place.statement
    document = one.document
    return PassageHit(
        start=one.start,
        end=one.end,
        text=one.text,
        score=place.probability,
        speakers=(one.speaker,) if one.speaker else (),
        time=one.time,
        page=document.page_at(one.start),
        place=document.place_at(one.start),
        figures=tuple(each.label for each in document.figures_near(one.start, one.end)),
    )
