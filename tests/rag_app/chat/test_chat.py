"""Two people who are logged in at the same time, each in a real Chromium of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from rag_app.chat.web.sessions import COOKIE
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import PASSWORDS

LogIn = Callable[..., Page]


@pytest.fixture
def log_in(browser: Browser, team_server: Served) -> Iterator[LogIn]:
    """Opens the page as somebody, in a browser of their own or in one that somebody has used."""
    contexts: list[BrowserContext] = []

    def opened(user: str, *, used: BrowserContext | None = None, width: int = 1280) -> Page:
        context = new_context(
            browser,
            storage_state=used.storage_state() if used else None,
            viewport=ViewportSize(width=width, height=800),
        )
        contexts.append(context)
        page = context.new_page()
        context.clear_cookies(name=COOKIE)
        page.goto(team_server.address)
        page.get_by_label("Name").fill(user)
        page.get_by_label("Password").fill(PASSWORDS[user])
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("#changes [data-mark]")).to_be_attached()
        return page

    yield opened
    for context in contexts:
        context.close()


def ask(page: Page, question: str) -> None:
    page.locator("#box textarea").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("#history .question p")).to_have_text(question)


def test_conversations_belong_to_the_login_and_not_to_the_browser(log_in: LogIn) -> None:
    ann, bob = log_in("ann"), log_in("bob")
    ask(ann, "When is the heron report due?")
    expect(ann.locator("#history .answer")).to_contain_text("Friday the ninth")
    elsewhere = log_in("ann")
    expect(elsewhere.locator("#chats .name span")).to_have_text("When is the heron report due?")
    same_browser = log_in("bob", used=ann.context)
    for page in (bob, same_browser):
        expect(page.locator("#history .welcome")).to_be_visible()
        expect(page.locator("#chats li")).to_have_count(0)
    ask(bob, "What is due on Friday?")
    expect(same_browser.locator("#chats .name span")).to_have_text("What is due on Friday?")
    expect(elsewhere.locator("#chats li")).to_have_count(1)


def test_a_document_is_ones_own_until_it_is_shared_and_its_removal_says_whom_it_concerns(
    log_in: LogIn, tmp_path: Path
) -> None:
    file = tmp_path / "owls.txt"
    file.write_text("The owls are counted on the third Sunday of March.")
    ann, bob = log_in("ann"), log_in("bob")
    ann.locator("input[data-picked=files]").set_input_files(file)
    mine = ann.locator("#documents li", has_text="owls")
    expect(mine).to_contain_text("ann")
    expect(bob.locator("#documents li", has_text="heron")).to_be_visible()
    theirs = bob.locator("#documents li", has_text="owls")
    expect(theirs).to_have_count(0)
    expect(bob.locator("#uploads li", has_text="owls")).to_have_count(0)

    # Shared, it is there for bob to be asked, and not to be removed.
    ann.get_by_role("button", name="Share ann").click()
    expect(theirs).to_be_visible()
    expect(theirs.get_by_role("button", name="Remove")).to_have_count(0)
    shelf = bob.locator("#collections li", has_text="shared by ann")
    shelf.get_by_role("checkbox").check()
    expect(bob.locator("#documents li", has_text="heron")).to_have_count(0)
    ask(bob, "When are the owls counted?")
    expect(bob.locator("#history .answer")).to_contain_text("third Sunday of March")
    expect(bob.locator("#history .scope").first).to_have_text("limited to ann")
    expect(bob.locator("#panel .lost")).to_have_count(0)

    # The first press says whom it concerns, the second one removes it.
    mine.get_by_role("button", name="Remove").click()
    notice = ann.locator("#notice")
    expect(notice).to_contain_text("owls: bob and eve can read it now, and then no longer.")
    expect(notice).to_contain_text("1 of bob")
    expect(mine).to_be_visible()
    mine.get_by_role("button", name="Remove").click()
    expect(mine).to_have_count(0)
    expect(theirs).to_have_count(0)
    expect(bob.locator("#panel .lost").first).to_contain_text("no longer shared with you")
    ann.get_by_role("button", name="Stop sharing ann").click()
    expect(shelf).to_have_count(0)


def test_who_logs_out_is_asked_again_and_nobody_sees_their_page(log_in: LogIn) -> None:
    page = log_in("eve")
    out = page.get_by_role("button", name="Log out")
    expect(out).to_have_attribute("title", "Logged in as eve")
    out.click()
    expect(page.get_by_label("Password")).to_be_visible()
    page.go_back()
    page.reload()
    expect(page.get_by_label("Password")).to_be_visible()
