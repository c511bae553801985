"""What other windows and other processes change is shown in a window without a reload."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from rag_app.chat.application import Application
from rag_app.chat.changes import mark
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import new_key
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.page.visits import up_to_date
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE


def test_a_mark_differs_once_anything_shown_has_changed(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus, Corpus(tmp_path / "corpus") as other:
        app = Application(corpus)
        ann, bob = new_key(), new_key()
        chats = app.conversations.name(ann)
        marks = [mark(app, chats)]

        def differs() -> bool:
            marks.append(mark(app, chats))
            return marks[-1] != marks[-2]

        assert not differs()
        other.add_text("The owl survey begins in March.", name="owl")
        assert differs() and not differs()
        app.conversations.save(bob, Conversation.new().followed_by(Exchange("Whose?")))
        assert not differs()
        mine = Conversation.new().followed_by(Exchange("Mine?"))
        app.conversations.save(ann, mine)
        assert differs()
        app.conversations.delete(ann, mine.id)
        assert differs()
        other.remove(["owl"])
        assert differs() and len(set(marks)) == 5


@pytest.fixture
def windows(browser: Browser, served: Served) -> Iterator[tuple[Page, Page]]:
    """Two windows of one person."""
    context = new_context(browser)
    yield opened(context, served), opened(context, served)
    context.close()


def opened(context: BrowserContext, served: Served) -> Page:
    page = context.new_page()
    page.goto(served.address)
    expect(page.locator("#changes [data-mark]")).to_be_attached()
    return page


def test_a_window_follows_what_another_one_does(windows: tuple[Page, Page]) -> None:
    here, there = windows
    here.locator("#box textarea").fill("What is the final launch date of Heron?")
    here.keyboard.press("Enter")
    expect(there.locator("#chats li")).to_have_text(
        ["What is the final launch date of Heron?today"]
    )
    there.locator("#chats .name").click()
    expect(there.locator("#history .answer")).to_be_visible()
    expect(there.locator("#panel .lost")).to_have_count(0)
    there.locator("#chats [data-rename]").click()
    there.locator("#chats input.rename").fill("The launch of Heron")
    here.locator("#chats [data-act=pin_chat]").click()
    expect(here.locator("#chats [data-act=pin_chat]")).to_have_attribute("aria-pressed", "true")
    there.wait_for_timeout(4000)  # longer than from one look to the next
    expect(there.locator("#chats input.rename")).to_have_value("The launch of Heron")
    there.keyboard.press("Enter")
    for each in windows:
        expect(each.locator("#chats li")).to_have_text(["The launch of Herontoday"])
    here.locator("#chats [data-act=forget_chat]").click()
    here.locator("#chats [data-act=forget_chat]").click()
    expect(there.locator("#chats li")).to_have_count(0)
    expect(there.locator("#history .welcome")).to_be_visible()


def test_a_window_follows_what_another_process_does(
    windows: tuple[Page, Page], served: Served, tmp_path: Path
) -> None:
    here, there = windows
    file = tmp_path / "osprey.txt"
    file.write_text("The osprey nest is repaired on the first Saturday of March.")
    command = [sys.executable, "-m", "rag_app"]
    at = ["--corpus", str(served.folder)]
    there.locator("#documents [data-filter]").fill("heron")
    subprocess.run([*command, "index", str(file), *at], check=True, capture_output=True)
    row = here.locator("#documents li", has_text="osprey")
    expect(row).to_be_visible()
    other = there.locator("#documents li", has_text="osprey")
    expect(other).to_be_attached()
    expect(other).to_be_hidden()  # it is still filtered
    here.locator("#box textarea").fill("When is the osprey nest repaired?")
    here.keyboard.press("Enter")
    expect(here.locator("#panel .source").first).to_contain_text("first Saturday")
    subprocess.run([*command, "remove", str(file), *at], check=True, capture_output=True)
    expect(row).to_have_count(0)
    expect(here.locator("#panel .lost").first).to_contain_text("no longer in the corpus")


def test_nothing_stays_open_between_two_looks_and_nobody_looks_when_offline(
    windows: tuple[Page, Page], served: Served
) -> None:
    page, _ = windows
    with page.expect_response("**/changes*") as reply:
        pass
    reply.value.finished()
    up_to_date(page)  # also with what is found out behind the page
    assert reply.value.headers["cache-control"] == "no-store"
    looks: list[str] = []
    page.context.set_offline(True)
    page.wait_for_function("!navigator.onLine")
    page.on("request", lambda request: looks.append(request.url))
    page.wait_for_timeout(4000)  # longer than from one look to the next
    assert not [url for url in looks if "/changes" in url]
    assert (
        len(looks) <= 1
    )  # the stream of events, tried once before the browser said it was offline
    page.context.set_offline(False)
    with page.expect_response("**/changes*"):
        pass
    url = f"{served.address}/changes"
    texts = [
        httpx.get(url, params=chats, timeout=PATIENCE).text for chats in ({}, {"chats": "../.."})
    ]
    assert texts[0] == texts[1]
