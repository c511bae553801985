"""A person who opens the page in a real Chromium. Nothing may be loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.page.visits import Visit
from tests.rag_app.chat.served_corpus import Served


class Profiles:
    """Profiles of a browser, of one person at a time; all that is kept is what was downloaded."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self._browser, self._origin = browser, origin
        self._idle: dict[str, list[BrowserContext]] = {}

    def take(self, locale: str, *, new: bool) -> BrowserContext:
        """A profile of nobody, in a language."""
        idle = self._idle.setdefault(locale, [])
        if idle and not new:
            return idle.pop()
        return new_context(self._browser, locale=locale)

    def give_back(self, context: BrowserContext, locale: str) -> None:
        """Let a profile forget who used it."""
        used, page = context.pages, context.new_page()
        for each in used:
            each.close()
        context.set_offline(False)
        context.clear_cookies()
        session = context.new_cdp_session(page)
        kinds = {"origin": self._origin, "storageTypes": "all"}
        session.send("Storage.clearDataForOrigin", kinds)
        page.close()
        self._idle[locale].append(context)


@pytest.fixture(scope="module")
def profiles(browser: Browser, served: Served) -> Profiles:
    return Profiles(browser, served.address)


@pytest.fixture
def visit(profiles: Profiles, served: Served) -> Iterator[Visit]:
    """Opens the page as a person who has never been here; what went wrong is told at the end.

    A `new` profile has downloaded nothing either, and is of no use afterwards.
    """
    wrong: list[str] = []
    taken: list[tuple[BrowserContext, str, bool]] = []

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

    def opened(
        width: int = 1280, height: int = 800, locale: str = "en-GB", *, new: bool = False
    ) -> Page:
        context = profiles.take(locale, new=new)
        taken.append((context, locale, new))
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        watch(page)
        page.goto(served.address)
        expect(page.locator("#documents .documents")).to_be_attached()
        expect(page.locator("#changes .loading")).to_have_count(0)
        return page

    yield opened
    for context, locale, new in taken:
        if new:
            context.close()
        else:
            profiles.give_back(context, locale)
    assert not wrong
