"""The layout at every width, in both themes: one visit, walked through."""

from __future__ import annotations

import itertools
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.rag_app.chat.every_width import WIDTHS, dress, themes, violations
from tests.rag_app.chat.page.visits import Visit, answered, ask

TIGHT = (820, 1100)  # widths at which elements once covered each other

# The pixels at which an element's corners and middle are seen, of those within the window.
SEEN = """element => {
  const box = element.getBoundingClientRect();
  const at = (x, y) => element.contains(document.elementFromPoint(x, y));
  return at(box.x + box.width / 2, box.y + box.height / 2) && at(box.x + 3, box.y + box.height / 2)
    && at(box.right - 3, box.y + box.height / 2);
}"""
SMALL = """least => [...document.querySelectorAll("button, a[href], input, textarea, summary")]
  .filter(each => each.checkVisibility({ visibilityProperty: true }))
  .map(each => [each, each.matches("input[type=checkbox]") ? each.closest("label") : each])
  .map(([each, target]) => [each, target.getBoundingClientRect()])
  .filter(([each, box]) => box.width && !each.closest("#mode"))
  .filter(([each, box]) => Math.min(box.width, box.height) < least)
  .map(([each, box]) => `${each.outerHTML.slice(0, 120)}: ${box.width} x ${box.height}`)"""


def seen(element: Locator) -> bool:
    """Whether nothing lies over an element."""
    return bool(element.evaluate(SEEN))


def check_answer(page: Page, width: int) -> None:
    """Nothing covers the choices, a source and the ledger, once they are open."""
    names = ["#mode label:has-text('Generated answer')", "#writer button", ".save-md", ".save-json"]
    boxes = [page.locator(name).bounding_box() for name in names]
    assert all(seen(page.locator(name)) for name in names), width
    for one, other in itertools.pairwise(boxes):
        assert one is not None and other is not None
        beside = one["x"] + one["width"] <= other["x"]
        assert beside or one["y"] + one["height"] <= other["y"]
    page.locator("#history button.cite").first.click()
    shown = page.locator(".source.shown")
    expect(shown).to_be_focused()
    expect(shown.locator("mark")).to_be_in_viewport()
    assert seen(shown.locator("h3")), width
    page.keyboard.press("Escape")
    ledger = page.locator("#history .ledger").first
    ledger.locator("summary").click()
    expect(ledger.locator("caption")).to_be_in_viewport()
    foot = ledger.locator(".timings div").last
    page.wait_for_function("foot => (" + SEEN + ")(foot)", arg=foot.element_handle())
    ledger.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_is_covered_or_inaccessible_at_any_width(visit: Visit) -> None:
    page = visit(width=WIDTHS[0], height=844)
    page.add_style_tag(
        content="* { transition: none !important; scroll-behavior: auto !important }"
    )
    ask(page)
    answered(page)
    for width in sorted({*WIDTHS, *TIGHT}):
        page.set_viewport_size({"width": width, "height": 844})
        check_answer(page, width)
        if width not in WIDTHS:
            continue
        for view in ("Search", "Register", "Names", "Evaluate", "Ask"):
            page.get_by_role("tab", name=view).click()
            for dark in themes(width):
                dress(page, dark=dark)
                assert violations(page, colours=dark) == [], (width, dark, view)
        if width == 390:
            assert page.evaluate(SMALL, 24) == []
            for name in ("#new", "#box .submit-button", "#drop [data-pick=files]"):
                box = page.locator(name).first.bounding_box()
                assert box is not None and box["height"] >= 44, name


def test_keys_reach_the_question_first_and_show_where_they_are(visit: Visit) -> None:
    page = visit()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the question")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#box textarea")).to_be_focused()
    expect(skip).not_to_be_in_viewport()
    tick = page.locator("#documents input[type=checkbox]").first
    page.locator("#documents .filter").focus()
    page.keyboard.press("Tab")
    expect(tick).to_be_focused()
    outline = "it => getComputedStyle(it).outlineStyle + getComputedStyle(it).outlineWidth"
    assert tick.evaluate(outline) == "solid2px"


def test_files_may_be_dropped_anywhere_and_hidden_ones_stay_behind(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit()
    dropped = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["The plover nests in May."], "plover.txt"));
          return data;
        }"""
    )
    page.locator("#talk").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator("#uploads li", has_text="plover.txt")).to_contain_text("added")
    folder = tmp_path / "shore"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "notes.txt").write_text("internal")
    (folder / ".secret.txt").write_text("hidden")
    (folder / "dunlin.txt").write_text("The dunlin winters in Ellmere.")
    (folder / "empty.txt").write_text("")
    page.locator("input[data-picked=folder]").set_input_files(folder)
    expect(page.locator("#uploads li", has_text="dunlin.txt")).to_contain_text("added")
    # What failed is first, is counted, and can be seen.
    failed = page.locator("#uploads li").first
    expect(failed).to_contain_text("empty.txt")
    expect(failed.locator("p")).to_be_in_viewport()
    expect(page.locator("#uploads .sum")).to_have_text("1 failed, 2 added")
    expect(page.locator("#uploads")).not_to_contain_text("secret")
    expect(page.locator("#uploads")).not_to_contain_text(".git")
    for name in ("plover", "dunlin"):
        row = page.locator("#documents li", has_text=name)
        row.get_by_role("button", name="Remove").click()
        row.get_by_role("button", name="Remove").click()
        expect(row).to_have_count(0)
    page.get_by_role("button", name="Clear this list").click()


def test_impossible_numbers_are_answered_with_what_is_possible(visit: Visit) -> None:
    page = visit()
    page.get_by_role("tab", name="Search").click()
    page.locator("#query textarea").fill("the launch")
    field = page.get_by_label("Documents (1 to 50)")
    for wrong in ("0", "51", "2.5", ""):
        field.fill(wrong)
        page.keyboard.press("Enter")
        expect(page.locator("#results")).to_have_text("Documents: give a whole number from 1 to 50")
        field.fill("1")
        page.keyboard.press("Enter")
        expect(page.locator("#results .hits > li")).to_have_count(1)
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_label("Facts per depth and length").fill("9")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.locator("#measured")).to_have_text(
        "Facts per depth and length: give a whole number from 1 to 8"
    )


def test_a_hit_of_a_speaker_is_labelled_with_that_speaker(visit: Visit) -> None:
    page = visit()
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Speaker").fill("greta")
    page.locator("#query textarea").fill("the launch")
    page.keyboard.press("Enter")
    expect(page.locator("#results .hits > li").first).to_be_visible()
    labels = page.locator("#results .source > .place").all_inner_texts()
    assert labels and all("Greta" in label for label in labels)
