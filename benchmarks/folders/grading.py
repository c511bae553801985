"""Grades of answers: whether the right words lead, whether all are there, whether it abstains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt

from benchmarks.folders.questions import FolderQuestion
from generator.answer import Answer, marker_spans

_COLUMN = re.compile(r"(?:(?<=^)|(?<=\| ))[^|:]{1,60}: (?=[^|]*(?:\||$))")  # "Item: " of a row
_Z = 1.96  # of a normal distribution, for intervals of 95 %


@dataclass(frozen=True, slots=True)
class Grade:
    """What an answer is worth.

    Attributes:
        question: The name of the question.
        folder: Of its folder.
        kind: Of question.
        answerable: Whether the folder says it.
        leads: Whether the right words stand in the first quote or sentence.
        holds: Whether all of them stand anywhere in the answer.
        marked: Whether the words that stand out are right; None where none do.
        abstained: Whether it says that the documents do not say.
        seconds: From the question to the last word.
    """

    question: str
    folder: str
    kind: str
    answerable: bool
    leads: bool
    holds: bool
    marked: bool | None
    abstained: bool
    seconds: float


def grade(question: FolderQuestion, answer: Answer, seconds: float) -> Grade:
    """The grade of an answer; the right words of a near miss are none."""
    said = question.answerable and not answer.abstained
    short = answer.short
    return Grade(
        question=question.id,
        folder=question.folder,
        kind=question.kind,
        answerable=question.answerable,
        leads=said and _has(question.leads, first_statement(answer)),
        holds=said and all(_has(one, answer.text) for one in question.holds),
        marked=_has(question.leads, short.text) if short and question.answerable else None,
        abstained=answer.abstained,
        seconds=seconds,
    )


def first_statement(answer: Answer) -> str:
    """The first quote of an answer, or its first sentence with a citation; else the first line."""
    first = next(marker_spans(answer.text, answer.mode), None)
    return answer.text[: first.start] if first else answer.text.partition("\n")[0]


def _has(pattern: str, text: str) -> bool:
    """Whether a text matches, as it is or, of rows, without the names of their columns."""
    line = " ".join(text.split())
    bare = _COLUMN.sub("", line)
    return any(re.search(pattern, each, re.IGNORECASE) for each in (line, bare))


@dataclass(frozen=True, slots=True)
class Share:
    """A share of some questions, with the interval of 95 % after Wilson (1927).

    Attributes:
        count: How many hold.
        of: Of how many.
    """

    count: int
    of: int

    @property
    def percent(self) -> float:
        """0 to 100; 0 of none."""
        return 100 * self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """In percent."""
        if not self.of:
            return 0.0, 100.0
        share, n, square = self.count / self.of, self.of, _Z * _Z
        middle = (share + square / (2 * n)) / (1 + square / n)
        half = _Z * sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
        return max(0.0, 100 * (middle - half)), min(100.0, 100 * (middle + half))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.percent:.0f} % ({low:.0f} to {high:.0f})" if self.of else "-"


@dataclass(frozen=True, slots=True)
class Summary:
    """Grades of some questions, counted.

    Attributes:
        leads: Of the questions that the folder answers.
        holds: Of the same.
        marked: Of the answers in which words stand out, those in which the right ones do.
        withheld: Of the near misses.
        wrongly_withheld: Of the questions that the folder answers.
        seconds: The median.
    """

    leads: Share
    holds: Share
    marked: Share
    withheld: Share
    wrongly_withheld: Share
    seconds: float

    @classmethod
    def of(cls, grades: Iterable[Grade]) -> Summary:
        """Counted."""
        every = list(grades)
        said = [one for one in every if one.answerable]
        missed = [one for one in every if not one.answerable]
        marked = [one for one in said if one.marked is not None]
        times = sorted(one.seconds for one in every)
        return cls(
            leads=_share(said, lambda one: one.leads),
            holds=_share(said, lambda one: one.holds),
            marked=_share(marked, lambda one: bool(one.marked)),
            withheld=_share(missed, lambda one: one.abstained),
            wrongly_withheld=_share(said, lambda one: one.abstained),
            seconds=times[len(times) // 2] if times else 0.0,
        )

    def as_json(self) -> dict[str, object]:
        """Counts, and the median of the seconds."""
        return asdict(self)


def _share(grades: Sequence[Grade], holds: Callable[[Grade], bool]) -> Share:
    return Share(sum(map(holds, grades)), len(grades))
