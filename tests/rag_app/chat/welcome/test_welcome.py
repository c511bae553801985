"""The first minutes in a real Chromium: nothing there, the samples, an overview, a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag_app.chat.welcome.samples import FILES
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.every_width import check_every_width, violations
from tests.rag_app.chat.served_corpus import Served, serve

TEXT = """The Sallow Trust was founded in 1988 by an angling club and two parish councils.
Its members look after the river between Harl Top and the sea, and count what lives in it.
The heron colony at Saltmarsh Bend had 27 nests, the most since the counting began.
"""


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """A server over no corpus at all."""
    with serve(tmp_path / "corpus") as running:
        yield running


@pytest.fixture
def page(browser: Browser, empty: Served) -> Iterator[Page]:
    """A phone that has never been here."""
    context = new_context(browser, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(empty.address)
    page.add_style_tag(content="* { transition: none !important }")
    expect(page.locator(".welcome .way")).to_have_count(3)
    yield page
    context.close()


def ask_what_is_suggested(page: Page) -> None:
    """The first suggestion, which is answered."""
    first = page.locator(".welcome [data-ask]").first
    question = first.inner_text()
    first.click()
    expect(page.locator("#history .exchange")).to_have_count(1)
    expect(page.locator("#history .question")).to_have_text(question)
    expect(page.locator("#history .cite").first).to_be_visible()
    expect(page.locator("#history .abstained")).to_have_count(0)


def test_from_nothing_to_an_answer(page: Page, empty: Served, tmp_path: Path) -> None:
    check_every_width(page, ".welcome")
    # A question that has nothing to be asked of is told what to do, without a path.
    page.locator("#box textarea").fill("Is anybody here?")
    page.keyboard.press("Enter")
    expect(page.locator("#hint")).to_contain_text("There are no documents yet")
    expect(page.locator("#hint")).not_to_contain_text(str(empty.folder.parent))
    page.locator("#box textarea").fill("")
    file = tmp_path / "trust.txt"
    file.write_text(TEXT)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").last.click()
    chooser.value.set_files(file)
    # Behind the page: an overview, and questions that were tried.
    expect(page.locator(".welcome .card h3")).to_have_text("trust")
    expect(page.locator(".welcome [data-ask]")).to_have_count(3)  # two facts, and a summary
    check_every_width(page, ".welcome")
    page.locator(".welcome .card li button").first.click()
    expect(page.locator("#document mark").first).to_be_visible()
    page.keyboard.press("Escape")
    ask_what_is_suggested(page)


@pytest.mark.slow
def test_the_samples_are_added_with_one_click(page: Page) -> None:
    page.get_by_role("button", name="Try the samples").click()
    expect(page.locator("#uploads li.added")).to_have_count(len(FILES))
    expect(page.locator(".welcome [data-ask]")).to_have_count(3)
    ask_what_is_suggested(page)


def test_a_collection_is_made_before_there_is_another(page: Page, tmp_path: Path) -> None:
    for name, text in {"trust": TEXT, "fair": "The fair begins on 4 May.\n"}.items():
        file = tmp_path / f"{name}.txt"
        file.write_text(text)
        page.locator("input[data-picked=files]").set_input_files(file)
        expect(page.locator("#documents li", has_text=name)).to_be_attached()
    page.locator("#side .toggle-button").click()
    expect(page.locator("#collections li")).to_have_count(0)
    page.locator("#documents li", has_text="trust").get_by_role("checkbox").check()
    page.get_by_role("button", name="Put 1 document into a collection").click()
    field = page.get_by_role("combobox", name="Name of the collection")
    field.fill("default ")
    field.press("Escape")
    expect(page.locator("#collections li")).to_have_count(0)
    page.get_by_role("button", name="Put 1 document into a collection").click()
    field.fill("River <b>")
    assert violations(page) == []
    field.press("Enter")
    made = page.locator("#collections li", has_text="River <b>")
    expect(made).to_contain_text("1 document")
    page.get_by_role("button", name="Use all").last.click()
    made.get_by_role("checkbox").check()
    expect(page.locator("#documents li")).to_have_count(1)
    expect(page.locator("#documents li")).to_contain_text("trust")
    # The same way puts another document into it.
    made.get_by_role("checkbox").uncheck()
    page.locator("#documents li", has_text="fair").get_by_role("checkbox").check()
    page.get_by_role("button", name="Put 1 document into a collection").click()
    field.fill("River <b>")
    field.press("Enter")
    expect(made).to_contain_text("2 documents")
