"""Contexts of a browser that wait as long as tests do."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext

from tests.waiting import BROWSER_PATIENCE


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A context with Playwright's options."""
    context = browser.new_context(**options)
    context.set_default_timeout(BROWSER_PATIENCE)
    return context
