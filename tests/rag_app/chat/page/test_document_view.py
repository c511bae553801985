"""A document in the page's viewer: opened at a quote, searched, with keys, at every width."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fpdf import FPDF
from playwright.sync_api import Browser, Page, expect

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.every_width import WIDTHS, dress, themes, violations
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE

QUESTION = "Where does the osprey of Sallow Reach nest?"
QUOTE = "The osprey of Sallow Reach nests on the old water tower."
WORDS = "The tide turns and the gulls come in over the flats, as they did on the day before. "


@dataclass(frozen=True)
class Shelf:
    """Documents by name: their ids."""

    report: str
    call: str
    handbook: str


def report(path: Path) -> Path:
    """A PDF of three pages, the quote on the second."""
    file = FPDF()
    file.set_font("Helvetica", size=12)
    for number in (1, 2, 3):
        file.add_page()
        seen = QUOTE if number == 2 else "Nothing else was seen."
        for text in (f"Chapter {number}. {WORDS * 8}", seen, WORDS * 20):
            file.multi_cell(0, text=text, new_x="LMARGIN", new_y="NEXT")
    file.output(str(path))
    return path


def call(path: Path) -> Path:
    """A transcript of two minutes, and its recording."""
    cues = [
        f"00:{n // 6:02}:{n % 6 * 10:02}.000 --> 00:{n // 6:02}:{n % 6 * 10 + 9:02}.000\n"
        f"<v {'Ann' if n % 2 else 'Bob'}>Number {n}. {WORDS}\n"
        for n in range(12)
    ]
    path.write_text("WEBVTT\n\n" + "\n".join(f"{cue}" for cue in cues))
    with wave.open(str(path.with_suffix(".wav")), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(bytes([128]) * (120 * 8000))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture(scope="module")
def shelf(served: Served, folder: Path) -> Iterator[Shelf]:
    """A report, a call and a handbook beside what is served."""
    long = "".join(f"<h2>{n}. Rule {n}</h2><p>{WORDS * 9}</p>" for n in range(60))
    (folder / "handbook.html").write_text(
        f"<title>Handbook</title><h1>Handbook</h1>{long}<table><tr><th>Bird<th>Ring"
        "<tr><td>Knot<td>K-77</table>"
    )
    made = [report(folder / "osprey.pdf"), call(folder / "call.vtt"), folder / "handbook.html"]
    with Corpus(served.folder) as corpus:
        ids = corpus.add(made).added
        yield Shelf(*ids)
        corpus.remove(ids)


@pytest.fixture
def page(browser: Browser, served: Served, shelf: Shelf) -> Iterator[Page]:
    context = new_context(browser, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(served.address)
    expect(page.locator(f"[data-view='{shelf.report}']")).to_be_attached()
    yield page
    context.close()
    assert not wrong


def dialog(page: Page, title: str) -> Any:
    found = page.get_by_role("dialog", name=title)
    expect(found).to_be_visible()
    return found


def open_from_list(page: Page, id_: str) -> None:
    expect(page.locator("#document")).to_be_hidden()  # the one before
    page.locator(f"#documents [data-view='{id_}']").press("Enter")


# The share of a box's height that lies within the window of the pages.
IN_SIGHT = """() => {
  const view = document.querySelector("#document [data-pages]").getBoundingClientRect();
  const box = document.querySelector("#document .box").getBoundingClientRect();
  return box.height > 4 && box.top >= view.top && box.bottom <= view.bottom
    && box.left >= view.left && box.right <= view.right;
}"""


def test_a_citation_opens_its_page_with_the_lines_marked_at_every_width(
    page: Page, shelf: Shelf
) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 844})
    page.reload()  # where the sidebar starts closed
    expect(page.locator("#documents .documents")).to_be_attached()
    page.add_style_tag(content="* { transition: none !important }")
    page.locator("#box textarea").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#history .exchange")).to_have_count(1)
    opener = page.locator(f"#panel [data-view='{shelf.report}']").first
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        if not opener.is_visible():
            page.locator("#history button.cite").first.click()
        opener.focus()
        page.keyboard.press("Enter")
        shown = dialog(page, "osprey")
        expect(shown.locator("[data-page='2'] img")).to_be_visible()
        expect(shown.locator("[data-page='2'] .box").first).to_be_visible()
        page.wait_for_function(IN_SIGHT)
        expect(shown.locator("[data-unplaced]")).to_be_hidden()
        for dark in themes(width):
            dress(page, dark=dark)
            assert violations(page, "#document", colours=dark) == [], (width, dark)
        shown.get_by_role("button", name="Text").click()
        expect(shown.locator("mark").first).to_contain_text(QUOTE)
        expect(shown.locator("mark").first).to_be_in_viewport()
        assert violations(page, "#document") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("Escape")
        expect(page.locator("#document")).to_be_hidden()
        expect(opener).to_be_focused()


def test_a_document_is_searched_and_read_with_keys(page: Page, shelf: Shelf) -> None:
    open_from_list(page, shelf.handbook)
    shown = dialog(page, "Handbook")
    expect(shown.locator("h3").nth(1)).to_have_text("0. Rule 0")
    assert shown.locator("section[data-missing]").count() > 0  # only what is near is sent
    page.keyboard.press("/")
    page.keyboard.type("knot")
    expect(shown.locator("td mark")).to_have_text("Knot")
    expect(shown.locator("td mark")).to_be_in_viewport()
    expect(shown.locator("[data-found]")).to_have_text("1 of 1")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("rule 3")
    expect(shown.locator("[data-found]")).to_have_text("1 of 11")
    page.keyboard.press("Enter")
    expect(shown.locator("mark")).to_have_text("Rule 3")
    expect(shown.locator("h3:has(mark)")).to_have_text("30. Rule 30")
    page.keyboard.press("Shift+Enter")
    expect(shown.locator("h3:has(mark)")).to_have_text("3. Rule 3")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("walrus")
    expect(shown.locator("[data-found]")).to_have_text("Not found")
    page.keyboard.press("Escape")
    expect(page.locator("#document")).to_be_hidden()
    expect(page.locator(f"#documents [data-view='{shelf.handbook}']")).to_be_focused()


# Which utterance is marked, at each moment of a recording.
HEARD = """() => {
  window.heard = [];
  document.querySelector("#document audio").addEventListener("timeupdate", () =>
    heard.push(document.querySelector("#document .utterance.now .time")?.textContent));
}"""


def test_a_hit_opens_its_transcript_and_a_time_plays_the_recording(
    page: Page, shelf: Shelf, served: Served
) -> None:
    page.get_by_role("tab", name="Search").click()
    page.locator("#query textarea").fill("gulls come in over the flats number 7")
    page.get_by_role("textbox", name="File").fill("call.vtt")
    page.keyboard.press("Enter")
    page.locator(f"#results [data-view='{shelf.call}'][data-start]").first.click()
    shown = dialog(page, "call")
    expect(shown.locator("mark").first).to_be_in_viewport()
    expect(shown.locator(".utterance .who b").nth(1)).to_have_text("Ann")
    assert violations(page, "#document") == []
    page.evaluate(HEARD)
    shown.get_by_role("button", name="Play from 00:01:10").click()
    page.wait_for_function("heard.some(Boolean)")
    assert page.evaluate("heard.find(Boolean)") == "00:01:10"
    assert page.evaluate("document.querySelector('#document audio').currentTime") >= 70
    part = httpx.get(
        f"{served.address}/documents/{shelf.call}/recording",
        headers={"range": "bytes=0-3"},
        timeout=PATIENCE,
    )
    assert (part.status_code, part.content) == (206, b"RIFF")


def test_what_cannot_be_marked_or_is_gone_is_said(page: Page, shelf: Shelf, folder: Path) -> None:
    # The words around the end of a page are on two pages; those of the text alone on none.
    page.route(
        "**/boxes?*", lambda route: route.fulfill(json=[{"page": 2, "boxes": [], "words": QUOTE}])
    )
    open_from_list(page, shelf.report)
    shown = dialog(page, "osprey")
    shown.locator("[data-find] input").fill("osprey")
    expect(shown.locator("[data-unplaced]")).to_contain_text("cannot be found on the picture")
    expect(shown.locator("[data-unplaced] blockquote")).to_have_text(QUOTE)
    expect(shown.locator(".box")).to_have_count(0)
    expect(shown.locator("[data-page='2'] img")).to_be_in_viewport()
    # Closed and opened again in one breath, before the browser has said that it is closed.
    page.evaluate(
        """id => {
            document.querySelector("#document [data-close-document]").click();
            document.querySelector(`#documents [data-view='${id}']`).click();
        }""",
        shelf.report,
    )
    expect(shown.locator("[data-find] input")).to_be_visible()
    page.keyboard.press("Escape")
    file = folder / "osprey.pdf"
    kept = file.read_bytes()
    file.unlink()
    open_from_list(page, shelf.report)
    expect(shown.locator(".notice")).to_contain_text("no longer where it was")
    expect(shown.locator("[data-text]")).to_contain_text(QUOTE)
    expect(shown.locator("[data-pages]")).to_have_count(0)
    page.keyboard.press("Escape")
    file.write_bytes(kept)
