"""A scan, a WhisperX transcript, a mail with an attachment: from upload to a highlighted quote."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path

import pytest
from fpdf import FPDF
from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.scanned_pages import Scan, draw
from tests.indexing.loaders.test_figures import chart
from tests.rag_app.chat.conftest import NAMES, QUIET
from tests.rag_app.chat.page.visits import PATIENCE, add, answered, ask
from tests.rag_app.chat.served_corpus import serve

WEIR = "The repair of the weir at Brayle Mill cost 12,450 euros in March."
LANTERNS = "The lantern festival will begin on the ninth of October."
KAYAK = "The new kayak costs 840 crowns with two paddles."
FERRY = "The ferry carried 3,118 passengers in June."
QUESTIONS = {
    "How much did the repair of the weir at Brayle Mill cost?": ("12,450", "read by OCR"),
    "When will the lantern festival begin?": ("ninth of October", "00:00:12"),
    "How much does the new kayak cost?": ("840 crowns", ""),
    "How many passengers did the ferry carry in June?": ("3,118", "page 2"),
}


def scan(path: Path) -> Path:
    """A scanned page, then one of text with a figure."""
    made = FPDF()
    made.set_font("Helvetica", size=12)
    made.add_page()
    picture, words = draw(WEIR.split(), Scan("page", dpi=100, points=22, noise=4, paper=246))
    assert words == WEIR.split()
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=80)
    made.image(stream, x=0, y=0, w=made.w)
    made.add_page()
    made.text(20, 60, FERRY)
    made.image(io.BytesIO(chart()), x=20, y=70, w=90)
    made.text(20, 140, "Figure 1: Passengers of each month.")
    made.output(str(path))
    return path


def transcript(path: Path) -> Path:
    said = (("SPEAKER_00", "Shall we begin?", 0.5), ("SPEAKER_01", LANTERNS, 12.0))
    segments = [
        {"start": at, "end": at + 4, "text": f" {words}", "speaker": speaker, "words": []}
        for speaker, words, at in (*said, ("SPEAKER_00", "Thank you, that is good to know.", 20.0))
    ]
    path.write_text(json.dumps({"segments": segments, "language": "en"}), encoding="utf-8")
    return path


def mail(path: Path) -> Path:
    made = EmailMessage()
    made["From"], made["To"] = "Ada Park <ada@example.org>", "Bob <bob@example.org>"
    made["Date"], made["Subject"] = "Tue, 03 Mar 2026 14:05:00 +0100", "The boat house"
    made.set_content("Bob, the offer of the boat builder is attached.")
    offer = f"Offer of the boat builder\n\n{KAYAK} It can be there in four weeks.\n".encode()
    made.add_attachment(offer, maintype="text", subtype="plain", filename="offer.txt")
    path.write_bytes(made.as_bytes())
    return path


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """The page of an empty corpus, in Chromium."""
    if find_spec("rapidocr") is None:
        pytest.skip('OCR is not installed; run: pip install "rag-app[ocr]"')
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        said = "no Chromium here; install one, on Debian and Ubuntu: apt-get install chromium"
        pytest.fail(said) if os.environ.get("CI") else pytest.skip(said)
    with serve(tmp_path / "corpus", "--ocr", "rapidocr") as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.goto(served.address)
        expect(page.locator("input[data-picked=files]")).to_be_attached()
        yield page
        browser.close()


def test_from_upload_to_a_highlighted_quote(page: Page, tmp_path: Path) -> None:
    names = ("minutes.pdf", "2026-03-14_standup.json", "boat.eml")
    writers = (scan, transcript, mail)
    files = [write(tmp_path / name) for write, name in zip(writers, names, strict=True)]
    add(page, *files)
    for name in names:
        expect(page.locator("#uploads li", has_text=name)).to_contain_text("added")
    scanned = page.locator("#uploads li", has_text="minutes.pdf")
    expect(scanned).to_contain_text("1 of 2 pages read by OCR")
    for number, (question, (words, place)) in enumerate(QUESTIONS.items(), 1):
        ask(page, question)
        answered(page, number)
        source = page.locator(".sources section:not([hidden]) .source").first
        expect(source.locator("mark")).to_contain_text(words)
        expect(source.locator("header .place, footer").first).to_contain_text(place)
        if number == 1:  # on the picture of the scanned page, too
            source.locator("[data-view]").click()
            expect(page.locator("#document [data-page='1'] .box").first).to_be_visible()
            page.keyboard.press("Escape")
    figure = page.locator(".sources section:not([hidden]) .source .figure").first
    expect(figure).to_contain_text("Figure 1: Passengers of each month.")
    drawn = "image => image.complete && image.naturalWidth"
    figure.locator("img").scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({drawn})(document.querySelector('.figure img'))")
    assert figure.locator("img").evaluate(drawn) == 300
