"""Every bad file gives one line that names it, says what is wrong and what to do."""

from __future__ import annotations

import io
import json
import random
import re
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from campaign import outlook
from indexing.documents import Document
from indexing.errors import InvalidRequest
from indexing.files import FileReader, document
from indexing.limits import MIB, FileLimits
from indexing.loaders import LOADERS
from indexing.walk import Failure
from tests.indexing.loaders.test_loaders import BUILDERS, line_of
from tests.reading import read

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(64))
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024)
TEXTS = (".txt", ".md", ".markdown", ".html", ".htm", ".vtt", ".srt", ".json", ".jsonl", ".tsv")
MEETING = {"meeting_transcripts": [{"speaker": "A", "content": "Hello."}]}


def pdf(text: str = "Some words on a page.", *, password: str = "") -> bytes:
    from fpdf import FPDF
    from pypdf import PdfReader, PdfWriter

    made = FPDF()
    made.add_page()
    made.set_font("Helvetica", size=12)
    if text:
        made.cell(text=text)
    data = bytes(made.output())
    if not password:
        return data
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, algorithm="AES-256")
    sealed = io.BytesIO()
    writer.write(sealed)
    return sealed.getvalue()


def docx(text: str = "Some words.") -> bytes:
    from docx import Document as Word

    made = Word()
    made.add_paragraph(text)
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def archive(name: str, data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, data)
    return made.getvalue()


def built(suffix: str, **parts: bytes | None) -> bytes:
    """A sound file of this kind; of a ZIP file, parts given by name are others, or missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        BUILDERS[suffix](path)
        data = path.read_bytes()
    return changed(data, parts) if parts else data


def changed(data: bytes, parts: Mapping[str, bytes | None]) -> bytes:
    """A ZIP file with some parts replaced, added, or left out where they are None."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in dict.fromkeys([*source.namelist(), *parts]):
            content = parts.get(name, b"") if name in parts else source.read(name)
            if content is not None:
                packed.writestr(name, content)
    return made.getvalue()


def line_of_words() -> bytes:
    data = io.BytesIO()
    line_of("The minutes of the board.").save(data, "PNG")
    return data.getvalue()


def mail(body: bytes, kind: bytes = b"text/plain") -> bytes:
    return b"From: ada@example.org\r\nContent-Type: " + kind + b"\r\n\r\n" + body


def workbook(**cells: str) -> bytes:
    import xlsxwriter

    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as made:
        sheet = made.add_worksheet("Budget")
        for place, words in cells.items():
            sheet.write(place, words)
    return data.getvalue()


def zip_password(data: bytes) -> bytes:
    """A ZIP file whose parts say that they are encrypted, as `zip --encrypt` writes them."""
    sealed = bytearray(data)
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for match in re.finditer(re.escape(magic), data):
            sealed[match.start() + flags] |= 1
    return bytes(sealed)


SEALED = OLD_OFFICE + "EncryptedPackage".encode("utf-16-le")
DRM = (
    b'<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes"/></encryption>'
)


def only_failure(path: Path, data: bytes) -> Failure:
    path.write_bytes(data)
    (failure,) = read(path)
    assert isinstance(failure, Failure)
    assert failure.path == str(path.resolve())
    assert failure.reason and failure.remedy
    assert "\n" not in str(failure) and "Traceback" not in str(failure)
    return failure


CASES = {
    "empty text": ("a.txt", b"", "is empty"),
    "blank text": ("a.txt", b" \n\t\n ", "holds no text"),
    "picture named text": ("a.txt", PNG, "is a PNG picture, not text"),
    "PDF named text": ("a.txt", pdf(), "is a PDF document, not text"),
    "ZIP named Markdown": ("a.md", archive("x", b"x"), "is a ZIP archive, not text"),
    "NUL in text": ("a.txt", b"some words\0and more", "is binary"),
    "control characters": ("a.txt", random.Random(1).randbytes(4000).replace(b"\0", b""), "binary"),
    "undecodable": ("a.txt", bytes(range(128, 256)) * 8, "no encoding that can be recognised"),
    "half of UTF-16": ("a.txt", "some words".encode("utf-16")[:-1], "damaged or cut short"),
    "ZIP named PDF": ("a.pdf", archive("x", b"x"), "is a ZIP archive, not a PDF"),
    "text named PDF": ("a.pdf", b"just words", "does not begin as a PDF does"),
    "truncated PDF": ("a.pdf", pdf()[: len(pdf()) // 2], "cut short"),
    "PDF of nothing": ("a.pdf", b"%PDF-1.7\n%%EOF\n", "PDF"),
    "password": ("a.pdf", pdf(password="secret"), "protected by a password"),
    "pictures only": ("a.pdf", pdf(""), "no text"),
    "HTML named Word": ("a.docx", b"<html><p>words</p></html>", "not a Word document"),
    "Word in a sealed ZIP": ("a.docx", zip_password(docx()), "protected by a password"),
    "spreadsheet in a sealed ZIP": (
        "a.xlsx",
        zip_password(workbook(A1="x")),
        "protected by a password",
    ),
    "old Word": ("a.docx", OLD_OFFICE, "is an old Microsoft Office document"),
    "sealed Word": ("a.docx", SEALED, "protected by a password"),
    "text named PNG": ("a.png", b"just words", "is no picture, or a damaged one"),
    "PDF named TIFF": ("a.tif", pdf(), "is a PDF document, not a picture"),
    "truncated PNG": ("a.png", line_of_words()[:2000], "is damaged"),
    "truncated Word": ("a.docx", docx()[:5000], "damaged or cut short"),
    "other ZIP": ("a.docx", archive("readme.txt", b"words"), "not a Word document"),
    "PNG named Word": ("a.docx", PNG, "is a PNG picture, not a Word document"),
    "picture named HTML": ("a.html", PNG, "is a PNG picture, not HTML"),
    "only scripts": ("a.html", b"<script>words()</script>", "holds no text"),
    "no WEBVTT": ("a.vtt", b"00:01.000 --> 00:02.000\nwords\n", "does not begin with WEBVTT"),
    "damaged cue": (
        "a.vtt",
        b"WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:xx --> 00:04.000\nb\n",
        "1 damaged cues among 2",
    ),
    "no captions": ("a.vtt", b"WEBVTT\n", "holds no text"),
    "not SubRip": ("a.srt", b"just words\n", "SubRip"),
    "damaged SubRip": (
        "a.srt",
        b"1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:0x --> 00:00:04,000\nb\n\n"
        b"3\n00:00:05,000 --> 00:00:06,000\nc\n",
        None,
    ),
    "not JSON": ("a.json", b'{"meeting_transcripts": [', "is not valid JSON"),
    "other JSON": ("a.json", b'{"name": "package"}', "is JSON but no transcript"),
    "list of numbers": ("a.json", b"[1, 2]", "is JSON but no transcript"),
    "segments of numbers": ("a.json", b'{"segments": [1, 2]}', "is JSON but no transcript"),
    "a number among segments": ("a.json", b'{"segments": [{"text": "a"}, 2]}', "(number 1 from 0)"),
    "segments in a segment": ("a.json", b'{"segments": {"segments": []}}', "no transcript"),
    "text that is none": ("a.json", b'{"segments": [{"text": "a"}, {"text": 3}]}', "(number 1"),
    "nobody says a word": ("a.json", b'{"segments": [{"text": " "}]}', "holds no text"),
    "no segments": ("a.json", b'{"segments": []}', "is JSON but no transcript"),
    "not ELAN": ("a.eaf", b"<html><p>words</p></html>", "is XML but no ELAN annotations"),
    "no XML": ("a.eaf", b"just words", "is not well-formed XML"),
    "truncated ELAN": ("a.eaf", b"<ANNOTATION_DOCUMENT><TIER>", "is not well-formed XML"),
    "no annotations": ("a.eaf", b"<ANNOTATION_DOCUMENT/>", "holds no text"),
    "ZIP named ELAN": ("a.eaf", archive("x", b"x"), "is a ZIP archive, not XML"),
    "other XML": ("a.xml", b"<feed><entry>words</entry></feed>", "no words of the NITE toolkit"),
    "segments of AMI": (
        "a.xml",
        b'<nite:root xmlns:nite="http://nite.sourceforge.net/"><segment/></nite:root>',
        "no words of the NITE toolkit",
    ),
    "entities": ("a.xml", b'<!DOCTYPE r [<!ENTITY a "b">]><root><w>&a;</w></root>', "entities"),
    "file as entity": (
        "a.eaf",
        b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><ANNOTATION_DOCUMENT>&a;'
        b"</ANNOTATION_DOCUMENT>",
        "entities",
    ),
    "deep XML": ("a.xml", b"<w>" * 100_000 + b"</w>" * 100_000, "is not well-formed XML"),
    "deep JSON": ("a.json", b"[" * 200_000, "JSON"),
    "huge number": ("a.json", b'{"a": ' + b"9" * 5000 + b"}", "JSON"),
    "no speaker": (
        "a.json",
        b'{"meeting_transcripts": [{"content": "words"}]}',
        "has a turn (number 0 from 0) without",
    ),
    "nobody speaks": ("a.json", b'{"meeting_transcripts": []}', "nobody speaks"),
    "other JSON lines": ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', "holds no QMSum meeting"),
    "Word named spreadsheet": ("a.xlsx", docx(), "is a Word document, not a spreadsheet"),
    "ZIP named spreadsheet": ("a.xlsx", archive("a", b"x"), "is a ZIP archive, not a spreadsheet"),
    "old spreadsheet": ("a.xlsx", OLD_OFFICE, "is an old Microsoft Office document, not .xlsx"),
    "sealed spreadsheet": ("a.xlsx", SEALED, "protected by a password"),
    "truncated spreadsheet": ("a.xlsx", workbook(A1="x")[:3000], "damaged or cut short"),
    "broken spreadsheet": (
        "a.xlsx",
        built(".xlsx", **{"xl/workbook.xml": b"<workbook"}),
        "damaged spreadsheet",
    ),
    "empty spreadsheet": ("a.xlsx", workbook(), "holds no text"),
    "a cell far away": ("a.xlsx", workbook(A1="x", XFD2000="y"), "more than 20,000,000 cells"),
    "binary table": ("a.csv", b"a,b\n\0,\1", "is binary"),
    "blank table": ("a.tsv", b"\t\t\n\t\n", "holds no text"),
    "sealed presentation": ("a.pptx", SEALED, "protected by a password"),
    "truncated presentation": ("a.pptx", built(".pptx")[:9000], "damaged or cut short"),
    "presentation without itself": (
        "a.pptx",
        built(".pptx", **{"ppt/presentation.xml": None}),
        "not a presentation with slides",
    ),
    "text named e-book": ("a.epub", b"words", "is text or something else, not an e-book"),
    "truncated e-book": ("a.epub", built(".epub")[:500], "damaged or cut short"),
    "bought e-book": (
        "a.epub",
        built(".epub", **{"META-INF/encryption.xml": DRM}),
        "protected against copying",
    ),
    "e-book without contents": (
        "a.epub",
        built(".epub", **{"b/p.opf": None}),
        "does not say what it consists of",
    ),
    "e-book with a broken chapter": (
        "a.epub",
        built(".epub", **{"b/one.xhtml": b"\0\0", "b/two.xhtml": b"\0\0"}),
        "is binary",
    ),
    "sealed OpenDocument": (
        "a.odt",
        built(".odt", **{"META-INF/manifest.xml": b"<encryption-data/>"}),
        "protected by a password",
    ),
    "other OpenDocument": (
        "a.odt",
        built(".odt", **{"content.xml": b"<spreadsheet/>"}),
        "is an OpenDocument file, but not a text",
    ),
    "broken OpenDocument": ("a.odt", built(".odt", **{"content.xml": b"<a>"}), "is a damaged"),
    "text named Rich Text": ("a.rtf", b"words", "does not begin as Rich Text does"),
    "pictures in Rich Text": ("a.rtf", b"{\\rtf1{\\pict 00ff}}", "pictures but no text"),
    "text named mail": ("a.eml", b"just words\n\nand more", "does not begin as a mail does"),
    "sealed mail": ("a.eml", mail(b"MIIB", b"application/pkcs7-mime"), "is encrypted (S/MIME"),
    "text named Outlook": ("a.msg", b"words", "is text or something else, not an Outlook mail"),
    "old Word named Outlook": ("a.msg", outlook.compound_file({"Word": b"x"}), "not an Outlook"),
    "truncated Outlook": ("a.msg", built(".msg")[:2000], "Outlook mail"),
    "no ending": ("notes", b"words", "has no ending"),
    "other ending": ("a.xyz", b"words", "ends in .xyz, which no loader reads"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_one_line(case: str, tmp_path: Path) -> None:
    name, data, reason = CASES[case]
    failure = only_failure(tmp_path / name, data)
    assert (reason or "damaged") in failure.reason


@pytest.mark.parametrize("suffix", LOADERS)
def test_noise_under_any_name_is_a_failure(suffix: str, tmp_path: Path) -> None:
    noise = random.Random(7)
    for number in range(10):
        only_failure(tmp_path / f"{number}{suffix}", noise.randbytes(2000))


@pytest.mark.parametrize("suffix", [each for each in LOADERS if each not in TEXTS])
def test_damage_never_raises(suffix: str, tmp_path: Path) -> None:
    data, noise = built(suffix), random.Random(3)
    path = tmp_path / f"a{suffix}"
    for _ in range(30):
        broken = bytearray(data)
        for _ in range(noise.randrange(1, 40)):
            broken[noise.randrange(8, len(broken))] = noise.randrange(256)
        path.write_bytes(bytes(broken))
        for found in read(path):
            assert isinstance(found, Document) or "exit status" not in found.reason


def test_a_damaged_word_document_is_not_put_down_to_the_disk(tmp_path: Path) -> None:
    """Offsets within the archive that lead nowhere make the system refuse a seek."""
    data, noise = docx("Some words. " * 50), random.Random(5)
    directory = data.rindex(b"PK\x01\x02")
    for trial in range(200):
        broken = bytearray(data)
        for _ in range(noise.randrange(1, 4)):
            broken[noise.randrange(directory - 400, len(broken))] = noise.choice((0, 127, 255))
        path = tmp_path / f"{trial}.docx"
        path.write_bytes(broken)
        for found in read(path):
            assert isinstance(found, Document) or "check the disk" not in found.remedy, found


def test_too_large_names_size_limit_and_flag(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("word " * 500_000)
    with FileReader(FileLimits(bytes=MIB)) as reader:
        (failure,) = reader.read(path)
    assert isinstance(failure, Failure)
    assert failure.reason == "is 2.4 MiB, over the limit of 1.0 MiB"
    assert "--max-file-mb 3" in failure.remedy
    with FileReader(FileLimits(bytes=3 * MIB)) as reader:
        (found,) = reader.read(path)
    assert isinstance(found, Document)


@cache
def bomb() -> bytes:
    """A Word document that unpacks to 520 MiB."""
    made = io.BytesIO(docx())
    with (
        zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as packed,
        packed.open("word/media/image1.bin", "w") as part,
    ):
        for _ in range(520):
            part.write(bytes(1024 * 1024))
    return made.getvalue()


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    failure = only_failure(tmp_path / "a.docx", bomb())
    assert "unpacks to 520 MiB, over the limit of 512 MiB" in failure.reason


ENTITIES = {
    ".docx": (
        "word/document.xml",
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        "<w:body><w:p><w:r><w:t>x &j;</w:t></w:r></w:p></w:body></w:document>",
    ),
    ".odt": (
        "content.xml",
        '<o:text xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0">'
        '<t:p xmlns:t="text">x &j;</t:p></o:text>',
    ),
    ".epub": ("b/one.xhtml", "<html><body>x &j;</body></html>"),
    ".xlsx": (
        "xl/worksheets/sheet1.xml",
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c r="A1" t="str"><f>x</f><v>x &j;</v></c></row></sheetData></worksheet>',
    ),
    ".pptx": (
        "ppt/slides/slide1.xml",
        '<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree>'
        "<p:sp><p:txBody><a:p><a:r><a:t>x &j;</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"
        "</p:cSld></p:sld>",
    ),
}


@pytest.mark.parametrize("suffix", ENTITIES)
def test_entities_are_not_expanded(suffix: str, tmp_path: Path) -> None:
    bomb = '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    name, body = ENTITIES[suffix]
    path = tmp_path / f"a{suffix}"
    whole = f'<?xml version="1.0"?>{bomb}]>{body}'
    path.write_bytes(changed(built(suffix), {name: whole.encode()}))
    for found in read(path):
        assert isinstance(found, Failure) or len(found.text) < 1000


def test_a_broken_line_leaves_the_other_meetings(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    good = json.dumps(MEETING | {"title": "é"}, ensure_ascii=False).encode()
    path.write_bytes(b'{"broken"\n' + good + b"\n\n" + b'{"id": "\xff"}\n' + good)
    first, one, second, other = read(path)
    assert isinstance(first, Failure) and first.reason.startswith("line 1 is not valid JSON")
    assert isinstance(second, Failure) and second.reason == "line 4 is not UTF-8"
    assert first.path == second.path == str(path.resolve())
    assert isinstance(one, Document) and isinstance(other, Document)
    assert (one.part, other.part) == ("line-2", "line-5")
    assert one.text == other.text == "A: Hello."


def test_names_in_a_file_are_made_unique(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    names = ["a", "a", "a-2", "", "a"]
    path.write_text("\n".join(json.dumps(MEETING | {"id": name}) for name in names))
    parts = [found.part for found in read(path) if isinstance(found, Document)]
    assert parts == ["a", "a-2", "a-2-2", "line-4", "a-3"]


def test_a_lone_surrogate_does_not_reach_the_text(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"meeting_transcripts": [{"speaker": "A\\u0000", "content": "x\\ud83dy"}]}')
    (found,) = read(path)
    assert isinstance(found, Document)
    assert found.text == "A\ufffd: x\ufffdy"


def test_names_of_a_meeting_begin_no_line_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    said = [{"speaker": "Ana\nBob: I agree.\u2028Cy", "content": "No."}]
    path.write_text(json.dumps({"id": "a\n\r[2] b", "meeting_transcripts": said}))
    (found,) = read(path)
    assert isinstance(found, Document)
    assert (found.title, found.part) == ("a [2] b", "a [2] b")
    assert found.text == "Ana Bob: I agree. Cy: No."
    assert [each.speaker for each in found.utterances] == ["Ana Bob: I agree. Cy"]


def test_a_missing_file_and_a_folder_are_failures(tmp_path: Path) -> None:
    (gone,) = read(tmp_path / "gone.txt")
    assert isinstance(gone, Failure) and gone.reason == "does not exist"
    folder = tmp_path / "folder.txt"
    folder.mkdir()
    (found,) = read(folder)
    assert isinstance(found, Failure) and found.reason == "is not a regular file"


def test_a_pdf_encrypted_without_a_password_opens(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf())))
    writer.encrypt("", owner_password="owner", algorithm="AES-128")
    path = tmp_path / "a.pdf"
    writer.write(path)
    (found,) = read(path)
    assert isinstance(found, Document)
    assert found.text == "Some words on a page."


def test_text_that_never_was_a_file() -> None:
    made = document("Alice: Hi.\r\nBob: Hello.\r\nAlice: Bye.", name="chat")
    assert made.text == "Alice: Hi.\nBob: Hello.\nAlice: Bye."
    assert [utterance.speaker for utterance in made.utterances] == ["Alice", "Bob", "Alice"]
    assert (made.path, made.title, made.part) == ("chat", "chat", "")
    assert document("x", name="chat").id == made.id
    assert document("x\ud800\0", name="c", title="T").text == "x\ufffd\ufffd"
    for text, name in (("", "a"), (" \n", "a"), ("a", " ")):
        with pytest.raises(InvalidRequest, match="blank"):
            document(text, name=name)


HOSTILE = {
    "a.srt": "1" * 200_000 + " -->",
    "b.srt": "1\n" + " " * 300_000 + "\nx -->",
    "c.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<v " * 200_000,
    "d.md": "# " + "[](" * 100_000,
    "e.md": "# " + "a " * 200_000 + "#",
    "f.txt": (" " * 300_000 + "\n") * 2 + "x",
    "g.txt": "Al: " * 200_000,
    "h.html": "<div>" * 30_000,
    "j.txt": "0:01\n" * 100_000,
    "k.txt": "00:00:01 From " + "a " * 200_000,
    "l.txt": "Al: x\n" * 50_000 + " " * 200_000 + "\n",
    "i.html": "<meta " * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_made_to_keep_a_pattern_busy(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(HOSTILE[name])
    with FileReader(FileLimits(seconds=15)) as reader:
        (found,) = reader.read(path)  # takes a second of CPU time; the square would take minutes
    assert isinstance(found, Document) or "takes more than" not in found.reason
