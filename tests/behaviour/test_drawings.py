"""The drawings of docs/architecture.md are held against the imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
DRAWING = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r'\b(\w+)[\[({]+"((?:rag_app|retriever|generator|indexing)(?:/\w+)+)<br/>')
ARROW = re.compile(r"^ *(\w+)\b.*?-->(?:\|[^|]*\|)? *(\w+)", re.MULTILINE)
MOST_CROSSINGS = 6  # of a question, from package to package

Arrow = tuple[str, str]


@cache
def imports() -> grimp.ImportGraph:
    packages = ("rag_app", "retriever", "generator", "indexing")
    return grimp.build_graph(*packages, cache_dir=None)


def arrows(drawing: str) -> Iterator[Arrow]:
    """Between modules; what is no module is only what goes in and comes out."""
    modules = {name: path.replace("/", ".") for name, path in MODULE.findall(drawing)}
    for first, second in ARROW.findall(drawing):
        if first in modules and second in modules:
            yield modules[first], modules[second]


FILE, QUESTION, CORPUS = map(list, map(arrows, DRAWING.findall(PAGE.read_text("utf-8"))))


@pytest.mark.parametrize("arrow", [*QUESTION, *CORPUS], ids=" to ".join)
def test_each_arrow_is_an_import(arrow: Arrow) -> None:
    first, second = ({one, *imports().find_descendants(one)} for one in arrow)
    assert any(second & imports().find_modules_directly_imported_by(one) for one in first)


@pytest.mark.parametrize("drawing", [QUESTION, CORPUS], ids=["question", "corpus"])
def test_nothing_calls_up_or_goes_a_way_that_is_not_drawn(drawing: list[Arrow]) -> None:
    drawn = {one for arrow in drawing for one in arrow}
    assert len(drawn) > 8
    for one in drawn:
        for other in imports().find_modules_directly_imported_by(one) & drawn:
            assert other in below(one, drawing), (one, other)


def below(module: str, drawing: list[Arrow]) -> set[str]:
    """What is reached from a module along the arrows."""
    reached: set[str] = set()
    new = {module}
    while new := {second for first, second in drawing if first in new} - reached:
        reached |= new
    return reached


def test_a_question_crosses_packages_rarely() -> None:
    crossings = [one for one in QUESTION if one[0].partition(".")[0] != one[1].partition(".")[0]]
    assert 0 < len(crossings) <= MOST_CROSSINGS, crossings
