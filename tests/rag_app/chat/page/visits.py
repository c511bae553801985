"""What the tests of the page share: how a person asks, waits and adds files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

QUESTION = "What is the final launch date of Heron?"

Visit = Callable[..., Page]


def ask(page: Page, question: str = QUESTION) -> None:
    page.locator("#box textarea").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, count: int = 1) -> None:
    expect(page.locator("#history .exchange")).to_have_count(count)
    expect(page.locator("#live .exchange")).to_have_count(0)


def add(page: Page, *files: Path) -> None:
    page.locator("input[data-picked=files]").set_input_files(files)
