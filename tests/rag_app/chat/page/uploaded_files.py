"""What people upload: a scan with a figure, a WhisperX transcript, a mail with an attachment."""

from __future__ import annotations

import io
import json
from email.message import EmailMessage
from pathlib import Path

from fpdf import FPDF

from benchmarks.scanned_pages import Scan, draw
from tests.indexing.loaders.test_figures import chart

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
    side = 7.36  # inches: as many pixels as RapidOCR scales a smaller page to
    made.add_page(format=(25.4 * side, 25.4 * side))
    sheet = Scan("page", dpi=100, points=22, noise=4, paper=246, inches=(side, side))
    picture, words = draw(WEIR.split(), sheet)
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
