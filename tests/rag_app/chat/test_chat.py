"""Two people who are logged in at the same time, each in a real Chromium of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served, serve

PATIENCE = 300_000  # milliseconds
PASSWORDS = {"ann": "one", "bob": "two"}

LogIn = Callable[..., Page]


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with logins, over a document that is everybody's."""
    folder = tmp_path_factory.mktemp("people") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add_text("The heron report is due on Friday the ninth.", name="heron")
    logins = folder.parent / "logins"
    logins.write_text("".join(f"{user}:{word}\n" for user, word in PASSWORDS.items()))
    with serve(folder, "--auth-file", str(logins)) as running:
        yield running


@pytest.fixture
def log_in(browser: Browser, shared_server: Served) -> Iterator[LogIn]:
    """Opens the page as somebody, in a browser of their own or in one that somebody has used."""
    contexts: list[BrowserContext] = []
    expect.set_options(timeout=PATIENCE)

    def opened(user: str, *, used: BrowserContext | None = None, width: int = 1280) -> Page:
        context = browser.new_context(
            http_credentials={"username": user, "password": PASSWORDS[user]},
            storage_state=used.storage_state() if used else None,
            viewport=ViewportSize(width=width, height=800),
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.goto(shared_server.address)
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
