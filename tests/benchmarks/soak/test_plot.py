"""Curves as SVG: every panel with its names, its points and its marks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.soak.plot import Panel, Series, draw

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("points", [[], [(0, 1.0)], [(0, 100.0), (1, 100.0)], [(0, 0.05), (1, 30)]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_whatever_was_measured_is_drawn(
    points: list[tuple[float, float]], *, logarithmic: bool
) -> None:
    panel = Panel("Seconds", [Series("search", points)], logarithmic=logarithmic)
    ElementTree.fromstring(draw([panel], minutes=10))


def test_points_restarts_and_names_are_drawn() -> None:
    panel = Panel(
        "A < B",
        [Series("line", [(0, 1), (10, 2)]), Series("dots", [(5, 1), (10, 1)], joined=False)],
    )
    root = ElementTree.fromstring(draw([panel, panel], minutes=10, marks=[5]))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts.count("A < B") == texts.count("line") == texts.count("dots") == 2
    dashed = [each for each in root.iter(f"{SVG}path") if "dasharray" in each.get("style", "")]
    assert len(dashed) == 2
