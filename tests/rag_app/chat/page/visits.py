"""What the tests of the page share: how a person asks, waits and adds files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.waiting import wait_until

QUESTION = "What is the final launch date of Heron?"

UP_TO_DATE = """async () => {
  const { mark, chats } = document.querySelector("#changes [data-mark]").dataset;
  return await (await fetch(`changes?chats=${chats}`)).text() === mark;
}"""

Visit = Callable[..., Page]


def ask(page: Page, question: str = QUESTION) -> None:
    page.locator("#box textarea").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, count: int = 1) -> None:
    expect(page.locator("#history .exchange")).to_have_count(count)
    expect(page.locator("#live .exchange")).to_have_count(0)


def up_to_date(page: Page) -> None:
    """Returns once the page shows what the server has.

    Playwright's `wait_for_function` does not wait for a promise.
    """
    wait_until(lambda: bool(page.evaluate(UP_TO_DATE)))


def add(page: Page, *files: Path) -> None:
    page.locator("input[data-picked=files]").set_input_files(files)
