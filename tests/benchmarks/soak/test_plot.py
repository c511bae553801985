"""Curves as SVG: every point in its place, on scales of round numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.soak.plot import LEFT, RIGHT, WIDTH, Panel, Series, draw

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("greatest", "ticks"),
    [
        (7.0, [0, 1, 2, 3, 4, 5, 6, 7]),
        (1640.0, [0, 500, 1000, 1500, 2000]),
        (0.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_a_scale_begins_at_zero_and_ends_at_a_round_number(
    greatest: float, ticks: list[float]
) -> None:
    panel = Panel("Memory", [Series("server", [(0, 0), (1, greatest)])])
    assert panel.ticks() == pytest.approx(ticks)
    assert panel.share(0) == 0 and panel.share(ticks[-1]) == pytest.approx(1)
    assert panel.share(ticks[1]) == pytest.approx(ticks[1] / ticks[-1])


def test_a_logarithmic_scale_has_powers_of_ten() -> None:
    panel = Panel("Seconds", [Series("search", [(0, 0.05), (1, 30)])], logarithmic=True)
    assert panel.ticks() == pytest.approx([0.01, 0.1, 1, 10, 100])
    assert [panel.share(each) for each in panel.ticks()] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert panel.share(0) == 0


@pytest.mark.parametrize("points", [[], [(0, 1.0)], [(0, 100.0), (1, 100.0)]])
def test_a_logarithmic_scale_of_nothing_or_of_one_value_is_drawn(
    points: list[tuple[float, float]],
) -> None:
    panel = Panel("Seconds", [Series("search", points)], logarithmic=True)
    least, greatest = panel.scale()
    assert 0 < least < greatest
    ElementTree.fromstring(draw([panel], minutes=10))


def test_points_restarts_and_names_are_drawn() -> None:
    panel = Panel(
        "A < B",
        [Series("line", [(0, 1), (10, 2)]), Series("dots", [(5, 1), (10, 1)], joined=False)],
    )
    root = ElementTree.fromstring(draw([panel, panel], minutes=10, marks=[5]))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts.count("A < B") == texts.count("line") == texts.count("dots") == 2
    (line, _) = root.iter(f"{SVG}polyline")
    first, last = (float(each.split(",")[0]) for each in line.attrib["points"].split())
    assert (first, last) == (LEFT, WIDTH - RIGHT)
    middle = (LEFT + WIDTH - RIGHT) / 2
    dots = [
        float(each.attrib["cx"]) for each in root.iter(f"{SVG}circle") if each.attrib["r"] == "1.8"
    ]
    assert dots == [middle, WIDTH - RIGHT] * 2
    marks = [each for each in root.iter(f"{SVG}path") if "stroke-dasharray" in each.attrib]
    assert [each.attrib["d"].startswith(f"M{middle:g}") for each in marks] == [True, True]
