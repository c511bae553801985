"""The first minutes in a real Chromium: nothing there, the samples, an overview, a question."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from rag_app.chat.welcome.samples import FILES
from tests.rag_app.chat.served_corpus import Served, serve

PATIENCE = 300_000  # milliseconds; no test depends on the speed of the machine
WIDTHS = (390, 768, 1024, 1440, 1920)
AXE = files("axe_playwright_python") / "axe.min.js"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """A server over no corpus at all."""
    with serve(tmp_path / "corpus") as running:
        yield running


def check_every_width(page: Page) -> None:
    """Nothing is wider than the window, and axe-core finds nothing in the welcome."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for dark in (False, True):
            page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
            found: dict[str, Any] = page.evaluate("axe.run('.welcome')")
            wrong = [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]
            assert wrong == [], (width, dark)


def test_from_nothing_to_an_answer_with_two_clicks(browser: Browser, empty: Served) -> None:
    expect.set_options(timeout=PATIENCE)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(empty.address)
    page.add_style_tag(content="* { transition: none !important }")
    ways = page.locator(".welcome .way")
    expect(ways).to_have_count(3)
    check_every_width(page)
    # A question that has nothing to be asked of is told what to do, without a path.
    page.locator("#box textarea").fill("Is anybody here?")
    page.keyboard.press("Enter")
    expect(page.locator("#hint")).to_contain_text("There are no documents yet")
    expect(page.locator("#hint")).not_to_contain_text(str(empty.folder.parent))
    page.get_by_role("button", name="Try the samples").click()
    expect(page.locator("#uploads li.added")).to_have_count(len(FILES))
    # Behind the page: an overview of the latest, and questions that were tried.
    questions = page.locator(".welcome [data-ask]")
    expect(questions).to_have_count(3)
    expect(page.locator(".welcome .card h3")).to_be_visible()
    check_every_width(page)
    page.locator(".welcome .card li button").first.click()
    expect(page.locator("#document mark, #document .box").first).to_be_visible()
    page.keyboard.press("Escape")
    question = questions.first.inner_text()
    questions.first.click()
    expect(page.locator("#history .exchange")).to_have_count(1)
    expect(page.locator("#history .question")).to_have_text(question)
    expect(page.locator("#history .cite").first).to_be_visible()
    expect(page.locator("#history .abstained")).to_have_count(0)
    context.close()
