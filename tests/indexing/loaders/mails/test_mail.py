"""Pictures attached to a mail are its figures; with OCR named, their words are documents."""

from __future__ import annotations

import io
import struct
import zlib
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

from PIL import Image

from campaign import outlook
from indexing.documents import Document
from indexing.walk import Failure
from tests.behaviour.test_bad_input import bomb
from tests.indexing.loaders.test_figures import chart
from tests.indexing.loaders.test_loaders import line_of
from tests.reading import read, read_by_ocr

WORDS = "The weir was repaired in March."


def huge() -> bytes:
    """A PNG of a few bytes that says it has 60,000 by 60,000 pixels."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def mail(**pictures: bytes) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["Subject"] = "Ada <ada@example.org>", "The weir"
    made.set_content("See the pictures.")
    for name, data in pictures.items():
        made.add_attachment(data, maintype="image", subtype="png", filename=f"{name}.png")
    return made


def png(picture: Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def test_attached_pictures_are_figures_and_none_does_harm(tmp_path: Path) -> None:
    made = mail(chart=chart(), huge=huge())
    logo, photo = EmailMessage(), EmailMessage()
    logo.set_content(chart(5), "image", "png", disposition="inline", filename="l.png", cid="<l>")
    photo.set_content(chart(9), "image", "png", disposition="inline", filename="photo.png")
    made.attach(logo)
    made.attach(photo)
    made.add_attachment(bomb(), maintype="application", subtype="x-word", filename="bomb.docx")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    found, damaged, unread = read(tmp_path / "a.eml")
    assert isinstance(found, Document) and found.text.endswith("See the pictures.")
    assert [each.caption for each in found.figures] == ["chart.png", "photo.png"]
    assert found.figures_near(0, 5) == found.figures
    assert isinstance(damaged, Failure) and damaged.beside_text
    assert "its attachment bomb.docx unpacks to 520 MiB" in damaged.reason
    assert isinstance(unread, Failure) and "--ocr rapidocr" in unread.remedy
    assert "not read (chart.png, huge.png, photo.png)" in unread.reason


def test_attached_pictures_are_read_where_an_engine_is_named(tmp_path: Path) -> None:
    blank = png(Image.new("L", (400, 300), 200))
    made = mail(scan=png(line_of(WORDS)), blank=blank, huge=huge())
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    found, scan, damaged = read_by_ocr(tmp_path / "a.eml")
    assert isinstance(found, Document) and isinstance(scan, Document)
    assert (scan.title, scan.text) == ("The weir: scan.png", WORDS)
    assert scan.pages[0].confidence is not None
    assert isinstance(damaged, Failure)
    assert "its attachment huge.png has more than" in damaged.reason


def test_what_is_attached_to_an_attached_mail_is_named_in_its_place(tmp_path: Path) -> None:
    inner, outer, whole = mail(), mail(), mail()
    inner.replace_header("Subject", "inner")
    outer.replace_header("Subject", "outer")
    inner.add_attachment(b"x", maintype="application", subtype="zip", filename="plans.zip")
    outer.add_attachment(inner)
    whole.add_attachment(outer)
    whole.add_attachment(b"The words of no file.", maintype="text", subtype="plain")
    (tmp_path / "a.eml").write_bytes(whole.as_bytes())
    found = read(tmp_path / "a.eml")
    (unread,) = (one for one in found if isinstance(one, Failure))
    assert unread.reason == (
        "its attachment outer.eml/inner.eml has attachments that are not read (plans.zip)"
    )
    assert [one.part for one in found if isinstance(one, Document)] == [
        "",
        "outer.eml",
        "outer.eml/inner.eml",
        "attachment.txt",
    ]


def test_pictures_attached_in_outlook(tmp_path: Path) -> None:
    ada = ("Ada", "ada@example.org")
    whole = outlook.mail(
        sender=ada,
        to=ada,
        date=datetime(2026, 3, 3, tzinfo=UTC),
        subject="The weir",
        body="See the picture.",
        files={"chart.png": chart()},
    )
    (tmp_path / "a.msg").write_bytes(outlook.compound_file(whole))
    found, unread = read(tmp_path / "a.msg")
    assert isinstance(found, Document)
    assert [each.caption for each in found.figures] == ["chart.png"]
    assert isinstance(unread, Failure) and "(chart.png)" in unread.reason
