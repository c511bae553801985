"""Names, pins, ratings, edits and standing questions of conversations in a real Chromium."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.every_width import check_every_width
from tests.rag_app.chat.page.visits import QUESTION, Visit, answered, ask, up_to_date
from tests.rag_app.chat.served_corpus import Served


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


def say(served: Served, path: Path, words: str) -> None:
    """A line more of a transcript, as `rag-app watch` reads it while the meeting goes on."""
    lines = path.read_text() if path.exists() else ""
    path.write_text(f"{lines}[00:{lines.count(chr(10)):02}:00] Ada Park: {words}\n")
    with Corpus(served.folder) as corpus:
        corpus.add([path], growing=[path])


def told(page: Page, *quotes: str) -> None:
    """These, and nothing else."""
    up_to_date(page)
    places = page.locator("#history .exchange:has(.question.told) .answer p")
    expect(places).to_have_text(
        [f"meeting, Ada Park: {one}{at}" for at, one in enumerate(quotes, 1)]
    )


def test_what_is_new_is_told_where_it_was_asked(
    visit: Visit, served: Served, tmp_path: Path
) -> None:
    page, meeting = visit(), tmp_path / "meeting.txt"
    ask(page, "Tell me when the zeppelin comes up")
    answered(page)
    expect(page.locator("#history .answer")).to_contain_text("is told here from now on, once")
    say(served, meeting, "Good morning. Shall we begin?")
    say(served, meeting, "The zeppelin is late.")
    told(page, "The zeppelin is late.")
    expect(page.locator("#history .question.told")).to_have_text(
        "New: Tell me when the zeppelin comes up"
    )
    page.locator("#history .question.told ~ .answer .cite").click()
    expect(page.locator("#panel .source.shown")).to_contain_text("The zeppelin is late.")
    page.locator("#new").click()  # it is told of while another conversation is open
    say(served, meeting, "Where is it? Both zeppelins are in Cuxhaven.")
    page.locator("#chats .name").click()
    told(page, "The zeppelin is late.", "Both zeppelins are in Cuxhaven.")
    page.reload()
    page.locator("#history [data-act=stop_telling]").click()
    expect(page.locator("#history .answer").first).to_contain_text("It stands no more.")
    say(served, meeting, "A zeppelin lands.")
    expect(page.locator("#documents li", has_text="meeting")).to_be_visible()
    told(page, "The zeppelin is late.", "Both zeppelins are in Cuxhaven.")


def test_in_german(visit: Visit, served: Served, tmp_path: Path) -> None:
    page = visit(locale="de-DE")
    ask(page, "Sag mir, wenn das Kugellager zur Sprache kommt")
    answered(page)
    expect(page.locator("#history .answer")).to_contain_text("wird ab jetzt hier gemeldet, einmal")
    expect(page.locator("#history .scope")).to_contain_text("eine Meldung, wenn „Kugellager“")
    say(served, tmp_path / "meeting.txt", "Guten Morgen zusammen.")
    say(served, tmp_path / "meeting.txt", "Das Kugellager klemmt.")
    told(page, "Das Kugellager klemmt.")
    expect(page.locator("#history .question.told")).to_contain_text("Neu: Sag mir")
    expect(page.locator("#history [data-act=stop_telling]")).to_have_text("Nicht mehr melden")
