"""Names, pins, ratings and edits of conversations in a real Chromium."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.rag_app.chat.every_width import check_every_width
from tests.rag_app.chat.page.visits import QUESTION, Visit, answered, ask


def ask_anew(page: Page, question: str) -> None:
    """A question in a conversation of its own, answered."""
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".welcome")).to_be_visible()
    ask(page, question)
    answered(page)


def test_conversations_are_named_pinned_searched_and_rated(visit: Visit) -> None:
    page = visit(width=1100)
    ask(page)
    answered(page)
    for number, word in enumerate(("Who asked for a rubber case?", "Who rang the tea urn?"), 2):
        ask_anew(page, word)
        expect(page.locator("#chats li")).to_have_count(number)

    row = page.locator("#chats li", has_text="launch date")
    row.get_by_role("button", name="Rename").click()
    field = page.get_by_role("textbox", name="Name of the conversation")
    field.fill("<b>Heron</b>")
    page.keyboard.press("Escape")
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Rename").click()
    field.fill("<b>Heron</b>")
    page.keyboard.press("Enter")
    named = page.locator("#chats li", has_text="<b>Heron</b>")
    expect(named).to_have_count(1)
    expect(page.locator("#chats li").last).to_contain_text("Heron")
    named.get_by_role("button", name="Pin").click()
    expect(page.locator("#chats li").first).to_contain_text("Heron")

    named.locator(".name").click()
    expect(page.locator("#history .question")).to_have_text(QUESTION)
    good = page.get_by_role("button", name="A good answer")
    good.click()
    expect(good).to_have_attribute("aria-pressed", "true")
    page.reload()
    answered(page)
    expect(good).to_have_attribute("aria-pressed", "true")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 1 rated answer").click()
    (line,) = download.value.path().read_text().splitlines()
    assert json.loads(line)["question"] == QUESTION and json.loads(line)["evidence"]
    check_every_width(page)

    page.locator("#history .question").hover()
    for way in ("Cancel", "Escape"):
        page.get_by_role("button", name="Edit this question").click()
        expect(page.locator("#box textarea")).to_have_value(QUESTION)
        if way == "Cancel":
            page.locator("#hint").get_by_role("button", name="Cancel").click()
        else:
            page.locator("#box textarea").press("Escape")
        expect(page.locator("#box textarea")).to_have_value("")
        expect(page.locator("#hint .notice")).to_have_count(0)
    ask(page, "Who rang the tea urn?")
    answered(page, 2)  # asked after it, not in its place

    ask_anew(page, "Who is Greta?")
    page.get_by_role("searchbox", name="Search the conversations").fill("URN")
    expect(page.locator("#chats li:visible")).to_have_count(2)
