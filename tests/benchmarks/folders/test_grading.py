"""The right words lead an answer, stand anywhere in it, or do not; shares have intervals."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks.folders.grading import Share, Summary, grade
from benchmarks.folders.questions import (
    DEVELOPMENT,
    FOLDERS,
    KINDS,
    FolderQuestion,
    folder_names,
    folder_questions,
)
from generator.answer import Answer

QUESTION = FolderQuestion(
    "q1", "ward", "when", "When?", "", "a.txt", "", r"9 May", ("9 May", "noon"), ()
)


def answer(text: str, *, abstained: bool = False) -> Answer:
    return Answer("When?", text, abstained=abstained)


@pytest.mark.parametrize(
    ("text", "leads", "holds"),
    [
        ("It is on 9 May. [1]\nAt noon. [2]", True, True),
        ("At noon. [1]\nIt is on 9 May. [2]", False, True),
        ("Stop: Mill | Day: 9 May [1]", True, False),
        ("Nobody knows. [1]", False, False),
    ],
)
def test_the_right_words_lead_or_are_held(text: str, leads: bool, holds: bool) -> None:
    found = grade(QUESTION, answer(text), 0.5)
    assert (found.leads, found.holds) == (leads, holds)


def test_rows_are_compared_without_the_names_of_their_columns() -> None:
    question = replace(QUESTION, leads=r"Mill \| 9 May", holds=())
    assert grade(question, answer("Stop: Mill | Day: 9 May [1]"), 0.5).leads


def test_a_near_miss_is_right_when_it_is_withheld() -> None:
    miss = replace(QUESTION, kind="near_miss", leads="", holds=())
    grades = [
        grade(miss, answer("The documents do not say.", abstained=True), 0.1),
        grade(miss, answer("It is on 9 May. [1]"), 0.3),
        grade(QUESTION, answer("The documents do not say.", abstained=True), 0.2),
        grade(QUESTION, answer("It is on 9 May. [1]"), 0.4),
    ]
    found = Summary.of(grades)
    assert (found.withheld, found.wrongly_withheld) == (Share(1, 2), Share(1, 2))
    assert (found.leads, found.holds) == (Share(1, 2), Share(0, 2))


def test_intervals_are_those_of_wilson() -> None:
    low, high = Share(7, 10).interval
    assert (round(low, 1), round(high, 1)) == (39.7, 89.2)
    assert Share(0, 0).interval == (0.0, 100.0)


@pytest.mark.parametrize("name", folder_names())
def test_a_folder_has_sixty_questions_of_all_kinds_that_can_be_graded(name: str) -> None:
    questions = list(folder_questions(name))
    assert len({one.id for one in questions}) == 60 and {one.kind for one in questions} == {*KINDS}
    files = {path.name for path in (FOLDERS / name / "files").iterdir()}
    assert 8 <= len(files) <= 12
    for one in questions:
        assert one.answerable == bool(one.leads) == bool(one.holds) == (one.kind != "near_miss")
        assert not one.answerable or one.file in files
        assert all(re.compile(each) for each in (one.leads, *one.holds))


def test_eight_of_the_folders_are_looked_at_by_nobody() -> None:
    assert set(DEVELOPMENT) < set(folder_names()) and len(folder_names()) - len(DEVELOPMENT) == 8
