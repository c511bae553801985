"""A standing question on the page, while a transcript grows."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.page.visits import Visit, answered, ask
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.test_changes import UP_TO_DATE


def say(served: Served, path: Path, words: str) -> None:
    """A line more of a transcript, as `rag-app watch` reads it while the meeting goes on."""
    lines = path.read_text() if path.exists() else ""
    path.write_text(f"{lines}[00:{lines.count(chr(10)):02}:00] Ada Park: {words}\n")
    with Corpus(served.folder) as corpus:
        corpus.add([path], growing=[path])


def told(page: Page, *quotes: str) -> None:
    """These, and nothing else."""
    page.wait_for_function(UP_TO_DATE)
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
    say(served, tmp_path / "meeting.txt", "Das Kugellager klemmt.")
    told(page, "Das Kugellager klemmt.")
    expect(page.locator("#history .question.told")).to_contain_text("Neu: Sag mir")
    expect(page.locator("#history [data-act=stop_telling]")).to_have_text("Nicht mehr melden")
