"""A person who opens the page in a real Chromium. Nothing may be loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.rag_app.chat.page.visits import PATIENCE, Visit
from tests.rag_app.chat.served_corpus import Served


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Visit]:
    """Opens the page as a person who has never been here; what went wrong is told at the end."""
    wrong: list[str] = []
    contexts = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((served.address, "data:", "blob:"))
                else wrong.append(f"loaded from elsewhere: {request.url}")
            ),
        )

    def opened(width: int = 1280, height: int = 800, locale: str = "en-GB") -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, locale=locale)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(served.address)
        expect(page.locator("#documents .documents")).to_be_attached(timeout=PATIENCE)
        expect(page.locator("#changes .loading")).to_have_count(0, timeout=PATIENCE)
        return page

    expect.set_options(timeout=PATIENCE)
    yield opened
    for context in contexts:
        context.close()
    assert not wrong
