"""Lines that stand apart on a page begin a paragraph."""

from __future__ import annotations

from indexing.text.paragraphs import paragraph_starts
from indexing.text.reading_order import Row, TextBox


def rows(*lines: tuple[float, str], left: float = 0) -> list[Row]:
    return [(TextBox(left, top, left + 100, top + 10, text),) for top, text in lines]


BODY = [(40.0 + 12 * at, f"Line {at} of the body.") for at in range(6)]


def test_a_wider_gap_above_begins_a_paragraph() -> None:
    page = rows((0, "Title"), (20, "Heading"), *BODY, (126, "Next paragraph."), (138, "Its end."))
    assert paragraph_starts(page) == {1, 2, 8}


def test_lines_at_one_distance_whatever_it_is_are_no_paragraphs() -> None:
    for step in (12.0, 30.0):
        assert not paragraph_starts(rows(*((step * at, "Double spaced") for at in range(9))))


def test_small_print_on_a_page_has_distances_of_its_own() -> None:
    small = [(130.0 + 7 * at, "Small print.") for at in range(7)]
    assert paragraph_starts(rows(*BODY, *small)) == {6}


def test_a_sentence_goes_on_below_a_formula_and_in_the_next_column() -> None:
    formula = rows((112, "y = ax + b"), (140, "where a is the slope."))
    body = rows(*BODY[:5], (100, "The line is given by"))
    assert not paragraph_starts([*body, *formula]) & {6, 7}
    assert not paragraph_starts([*rows(*BODY), *rows(*BODY, left=200)])


def test_too_few_lines_tell_nothing() -> None:
    assert not paragraph_starts(rows((0, "One"), (12, "Two"), (60, "Three")))
    assert not paragraph_starts([])
