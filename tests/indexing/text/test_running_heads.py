"""What repeats in the margins is left out where that is sure, and kept once."""

from __future__ import annotations

from indexing.text.reading_order import TextBox
from indexing.text.running_heads import PageLines, running_heads


def page(head: str, *body: str, foot: str = "") -> PageLines:
    lines = [head, *body, foot]
    tops = [20.0, *(200.0 + 12 * at for at in range(len(body))), 780.0]
    rows = [
        (TextBox(0, top, 90, top + 10, text),)
        for top, text in zip(tops, lines, strict=True)
        if text
    ]
    return PageLines.of(rows, 800)


def kept(pages: list[PageLines]) -> list[list[str]]:
    return [
        [line for at, line in enumerate(one.lines) if at not in out]
        for one, out in zip(pages, running_heads(pages), strict=True)
    ]


def test_headers_are_kept_once_and_page_numbers_never() -> None:
    pages = [page("Review 2024", f"Body {n}.", foot=f"Page {n} of 9") for n in range(1, 5)]
    assert kept(pages) == [["Review 2024", "Body 1."], ["Body 2."], ["Body 3."], ["Body 4."]]


def test_left_and_right_pages_have_headers_of_their_own() -> None:
    pages = [page(("Left", "Right")[n % 2], f"Body {n}.") for n in range(6)]
    assert kept(pages) == [
        *([name, f"Body {n}."] for n, name in enumerate(("Left", "Right"))),
        *([f"Body {n}."] for n in range(2, 6)),
    ]


def test_in_doubt_nothing_is_left_out() -> None:
    twice = [page("Head", f"Body {n}.") for n in range(2)]
    assert kept(twice) == [["Head", f"Body {n}."] for n in range(2)]
    far = [page("Head" if n in (0, 9, 19) else f"Other {n}x", f"B{n}") for n in range(20)]
    assert kept(far)[9] == ["Head", "B9"]
    alone = [page("All that it says") for _ in range(4)]
    assert kept(alone) == [["All that it says"]] * 4
    results = [page(f"Body {n}.", foot=str(number)) for n, number in enumerate((7, 7, 3, 12))]
    assert kept(results) == [[f"Body {n}.", s] for n, s in enumerate(["7", "7", "3", "12"])]


def test_a_header_that_the_first_page_says_anyway_is_left_out_everywhere() -> None:
    first = page("An S3 Class for", "Time Series", "Ada Park")
    others = [page(f"{n} An S3 Class for Time Series", f"Body {n}.") for n in range(2, 6)]
    assert kept([first, *others])[1:] == [[f"Body {n}."] for n in range(2, 6)]
    named = [page(f"Park, Ben {n}", f"Body {n}.") for n in range(2, 6)]
    assert kept([first, *named])[1] == ["Park, Ben 2", "Body 2."]


def test_headers_of_several_lines_are_left_out_up_to_what_stays() -> None:
    def lined(*lines: str) -> PageLines:
        tops = (10.0, 30.0, 50.0, 70.0, 300.0)
        rows = [
            (TextBox(0, top, 90, top + 10, text),) for top, text in zip(tops, lines, strict=True)
        ]
        return PageLines.of(rows, 800)

    two = [
        lined("Guide 2020", "Thyroid", f"Title {'abcd'[n]}", "Fix", f"Body {n}") for n in range(4)
    ]
    assert kept(two)[3] == ["Title d", "Fix", "Body 3"]
    inner = [lined(f"Title {'abcd'[n]}", "Thyroid", "Fix", "x", f"Body {n}") for n in range(4)]
    assert kept(inner)[3] == ["Title d", "Thyroid", "Fix", "x", "Body 3"]
    four = [lined("a", "b", "c", "d", f"Body {n}") for n in range(4)]
    assert kept(four)[3] == ["d", "Body 3"]


def test_what_stands_in_the_middle_of_pages_is_no_header() -> None:
    rows = [(TextBox(0, top, 90, top + 10, "Same"),) for top in (300, 400)]
    assert kept([PageLines.of(rows, 800)] * 4) == [["Same", "Same"]] * 4


def test_the_text_of_a_page_has_a_blank_line_before_a_paragraph() -> None:
    page = PageLines(("Head", "One.", "Two.", "Three."), starts=frozenset({1, 3}))
    assert page.text_without(()) == "Head\n\nOne.\nTwo.\n\nThree."
    assert page.text_without({0}) == "One.\nTwo.\n\nThree."
    assert page.text_without({3}) == "Head\n\nOne.\nTwo."
    assert page.text_without({1}) == "Head\n\nTwo.\n\nThree."
