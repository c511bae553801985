"""A short soak with a restart, and the figures that are made of one."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.soak.model import ModelProcess
from benchmarks.soak.server import Sample
from benchmarks.soak.soak import Course, Plan, documents, lost, report, save, soak
from benchmarks.soak.users import Action, User
from rag_app.corpus.corpus import Corpus

PLAN = Plan(seconds=60, users=1, think=1, restarts=(30,))
COURSE = Course(
    PLAN,
    samples=(
        Sample(0, 100, 20, 30, 3, 8),
        Sample(10, 300, 25, 36, 9, 9),
        Sample(20, 200, 0, 33, 6, 8),
    ),
    actions=(
        *(Action(n, "search", n / 4) for n in range(21)),
        Action(21, "question", 40, "interrupted", "ReadError"),
    ),
    restarts=(30.0,),
    failures=("question: ReadError",),
)


def test_figures_of_a_course() -> None:
    figures = report(COURSE)
    assert figures["memory MB"] == {"median": 200, "max": 300, "last": 200}
    assert figures["SQLite handles"] == {"median": 6, "max": 9, "last": 6}
    assert figures["actions"] == {"done": 21, "interrupted": 1}
    # What was broken off says nothing about latencies.
    assert figures["seconds"] == {"search": {"n": 21, "p50": 2.5, "p95": 4.75, "max": 5.0}}


def test_memory_is_compared_within_the_longest_life_of_the_server() -> None:
    """Not across restarts, after which a server begins with little."""
    minutes = [(0, 50.0), (1, 90.0), *((n, 100.0 + n) for n in range(2, 10)), (10, 20.0)]
    samples = tuple(Sample(60 * at, held, 0, 1, 1, 1) for at, held in minutes)
    course = Course(replace(PLAN, seconds=660), samples, (), (119.0, 599.0), ())
    assert report(course)["memory MB of the longest life"] == {
        "minutes": [2, 9],
        "median by quarter": [102.5, 104.5, 106.5, 108.5],
        "max by quarter": [103, 105, 107, 109],
        "last by first": 1.059,
    }


def test_a_model_is_dead_for_a_tenth_of_each_tenth() -> None:
    model = ModelProcess()
    try:
        lives = []
        for share in (0.0, 0.055, 0.058, 0.07, 0.155, 0.2):
            model.follow(share)
            lives.append((model.up.is_set(), model.kills))
        name = model.name
    finally:
        model.end()
    up, down = True, False
    assert lives == [(up, 0), (down, 1), (down, 1), (up, 1), (down, 2), (up, 2)]
    assert ":0/" not in name


def test_a_course_is_saved(tmp_path: Path) -> None:
    save(COURSE, tmp_path / "new")
    values = json.loads((tmp_path / "new" / "soak.json").read_text())
    fields, *rows = values["samples"]
    assert [dict(zip(fields, row, strict=True))["handles"] for row in rows] == [30, 36, 33]
    assert ElementTree.parse(tmp_path / "new" / "soak.svg").getroot().tag.endswith("svg")


def test_what_is_lost_or_back_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The probe fell into the lake.")
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add([tmp_path / "a.txt"])

    def told(kept: list[str], removed: list[str]) -> list[str]:
        user: Any = SimpleNamespace(
            kept=kept, removed=removed, collection="work", has_collection="b.txt" in kept
        )
        return lost(tmp_path / "corpus", [cast(User, user)])

    assert told(["a.txt"], ["b.txt"]) == []
    assert told(["b.txt"], ["a.txt"]) == [
        "b.txt is lost",
        "a.txt is back",
        "the collection work is lost",
    ]


@pytest.mark.slow
def test_nothing_is_lost_in_a_short_soak(tmp_path: Path) -> None:
    plan = Plan(seconds=40, users=3, think=1, restarts=(20,), interval=1)
    course = soak(tmp_path, plan, documents()[:2])
    assert course.failures == ()
    assert course.restarts and len(course.samples) > 2
    assert any(each.outcome == "done" for each in course.actions)
    assert all(each.memory > 50 and each.handles > 3 for each in course.samples)
