"""Every suffix in the table of loaders reads a file made of known words, and its offsets hold."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from benchmarks.scanned_pages import font_file
from campaign import outlook
from indexing.documents import Document
from indexing.loaders import LOADERS
from indexing.loaders.charset import clean, one_line
from indexing.text.chunking import split
from indexing.walk import Failure
from tests.reading import read, read_by_ocr

HEADINGS = ("Über the budget", "Naïve plans")
PARAGRAPHS = (
    "The café costs €5 a day. It was “très bon”, said Zoë.",
    "Nothing was decided in the second week; 東京 was too far away.",
    "They met again in März and cut the budget by half.",
)
SPOKEN = (
    ("Alice Müller", "We should cut the budget, I think.", 1.0),
    ("Bob", "Why? The café is “très bon”.", 4.5),
    ("Alice Müller", "Because 東京 is far away.", 62.25),
)


@dataclass(frozen=True)
class Known:
    """What a file was made of, by the document that it should become."""

    title: str
    words: tuple[str, ...] = ()
    spoken: tuple[tuple[str | None, str, float | None], ...] = ()
    places: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    part: str = ""
    format: str = ""
    unread: tuple[str, ...] = ()
    occasion: tuple[str, tuple[str, ...]] = ("", ())


def text(path: Path) -> list[Known]:
    lines = [f"{name}: {words}" for name, words, _ in SPOKEN]
    path.write_text("Weekly meeting\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return [Known(path.stem, spoken=tuple((name, words, None) for name, words, _ in SPOKEN))]


def markdown(path: Path) -> list[Known]:
    first, second = HEADINGS
    front = "---\ntitle: 'Plans'\ntags: [secret, Menu]\ndate: 2026-03-14\nauthor:\n- Zoë\n---\n\n"
    body = f"# {first}\n\n{PARAGRAPHS[0]}\n\n## {second}\n\n{PARAGRAPHS[1]}\n\n{PARAGRAPHS[2]}\n"
    path.write_text(front + body, encoding="utf-8")
    return [
        Known(
            "Plans",
            words=PARAGRAPHS,
            headings=(f"# {first}", f"## {second}"),
            occasion=("2026-03-14", ("Zoë",)),
        )
    ]


def pdf(path: Path) -> list[Known]:
    from fpdf import FPDF

    words = ("Cut the budget on page one.", "Keep the cafe on page two.", "The end on page four.")
    document = FPDF()
    document.set_title("Minutes of the week")
    document.set_font("Helvetica", size=12)
    for line in (words[0], words[1], "", words[2]):
        document.add_page()
        if line:
            document.cell(text=line)
    document.output(str(path))
    places = ("page 1", "page 2", "page 4")
    return [Known("Minutes of the week", words=words, places=places, headings=words)]


def docx(path: Path) -> list[Known]:
    from docx import Document as Word

    document = Word()
    document.core_properties.title = "Minutes"
    document.add_heading(HEADINGS[0], level=1)
    document.add_paragraph(PARAGRAPHS[0])
    table = document.add_table(rows=2, cols=2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    document.add_heading(HEADINGS[1], level=2)
    document.add_paragraph(PARAGRAPHS[1])
    document.add_paragraph(PARAGRAPHS[2])
    document.save(str(path))
    rows = ("cell 0 | cell 1\ncell 2 | cell 3",)
    words = (HEADINGS[0], PARAGRAPHS[0], *rows, HEADINGS[1], *PARAGRAPHS[1:])
    return [Known("Minutes", words=words, headings=HEADINGS)]


def html(path: Path) -> list[Known]:
    first, second = HEADINGS
    path.write_text(
        "<!doctype html><html><head><meta charset='utf-8'><title>Weekly</title>"
        "<style>p { color: red }</style><script>var budget = 1</script></head><body>"
        f"<nav><a href='/'>Menu</a></nav><h1>{first}</h1><p>{PARAGRAPHS[0]}</p>"
        f"<p hidden>secret</p><div style='display: none'>secret</div><h2>{second}</h2>"
        f"<div>{PARAGRAPHS[1]}</div><!-- secret --><p>They met\n again in <b>März</b>"
        " and cut the <i>bud</i>get by half.</p></body></html>",
        encoding="utf-8",
    )
    words = (first, PARAGRAPHS[0], second, *PARAGRAPHS[1:])
    return [Known("Weekly", words=words, headings=HEADINGS)]


def _stamp(seconds: float, point: str) -> str:
    return f"00:{int(seconds) // 60:02d}:{seconds % 60:06.3f}".replace(".", point)


def vtt(path: Path) -> list[Known]:
    cues = [
        f"{_stamp(time, '.')} --> {_stamp(time + 2, '.')}\n<v {name}>{words}</v>\n"
        for name, words, time in SPOKEN
    ]
    path.write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
    return [Known(path.stem, spoken=SPOKEN)]


def srt(path: Path) -> list[Known]:
    cues = [
        f"{number}\n{_stamp(time, ',')} --> {_stamp(time + 2, ',')}\n{name}: {words}\n"
        for number, (name, words, time) in enumerate(SPOKEN, 1)
    ]
    path.write_text("\n".join(cues), encoding="utf-8")
    return [Known(path.stem, spoken=SPOKEN)]


def _meeting(name: str | None) -> dict[str, object]:
    utterances = [{"speaker": name, "content": f" {words}\t"} for name, words, _ in SPOKEN]
    return {"meeting_transcripts": utterances} | ({"id": name} if name else {})


AS_IS = tuple((name, f" {words}\t", None) for name, words, _ in SPOKEN)


def qmsum(path: Path) -> list[Known]:
    path.write_text(json.dumps(_meeting(None)), encoding="utf-8")
    return [Known(path.stem, spoken=AS_IS, format="qmsum")]


def qmsum_lines(path: Path) -> list[Known]:
    names = ("ES2004a", None, "ES2004a")
    path.write_text("\n".join(json.dumps(_meeting(name)) for name in names), encoding="utf-8")
    return [Known(part, spoken=AS_IS, part=part) for part in ("ES2004a", "line-2", "ES2004a-2")]


def eaf(path: Path) -> list[Known]:
    """As ELAN 6 saves it: a tier a speaker, times in slots, a translation that depends on one."""
    slots, tiers = "", ""
    for name in dict.fromkeys(name for name, _, _ in SPOKEN):
        said = ""
        for number, (who, words, time) in enumerate(SPOKEN):
            if who == name:
                ids = f"ts{2 * number + 1}", f"ts{2 * number + 2}"
                for id_, at in zip(ids, (time, time + 2), strict=True):
                    slots += f'<TIME_SLOT TIME_SLOT_ID="{id_}" TIME_VALUE="{int(at * 1000)}"/>'
                said += (
                    f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number}"'
                    f' TIME_SLOT_REF1="{ids[0]}" TIME_SLOT_REF2="{ids[1]}"><ANNOTATION_VALUE>'
                    f"{words}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
                )
        tiers += f'<TIER LINGUISTIC_TYPE_REF="default-lt" PARTICIPANT="{name}" TIER_ID="{name[0]}">'
        tiers += f"{said}</TIER>"
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR=""'
        ' DATE="2026-03-20T15:09:43+01:00" FORMAT="3.0" VERSION="3.0"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n'
        '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"><MEDIA_DESCRIPTOR'
        ' MEDIA_URL="file:///weekly.wav" MIME_TYPE="audio/x-wav"/></HEADER>\n'
        f"<TIME_ORDER>{slots}</TIME_ORDER>\n{tiers}\n"
        '<TIER LINGUISTIC_TYPE_REF="t" PARENT_REF="A" TIER_ID="A-de"/>'
        '<LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt"'
        ' TIME_ALIGNABLE="true"/></ANNOTATION_DOCUMENT>',
        encoding="utf-8",
    )
    return [Known(path.stem, spoken=SPOKEN, occasion=("2026-03-20", ()))]


def nxt(path: Path) -> list[Known]:
    """As the AMI corpus has it, in ISO-8859-1, of a speaker whose words have no name."""
    words = [
        ("w", 3.34, 3.88, "Okay"), ("w", 3.88, 3.88, ","), ("w", 3.9, 4.2, "we"),
        ("w", 4.2, 4.3, "'ll"), ("disfmarker", 4.3, 4.3, None), ("w", 4.4, 4.9, "go"),
        ("w", 4.9, 4.9, "."), ("vocalsound", 7.5, 8.0, None), ("w", 8.0, 8.5, "Caf\xe9"),
        ("w", 8.5, 8.5, "?"),
    ]  # fmt: skip
    lines = ['<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>']
    lines.append('<nite:root nite:id="x" xmlns:nite="http://nite.sourceforge.net/">')
    for at, (tag, start, end, said) in enumerate(words):
        times = f'nite:id="x.words{at}" starttime="{start}" endtime="{end}"'
        punctuation = ' punc="true"' if start == end and said else ""
        lines.append(
            f"   <{tag} {times}/>" if said is None else f"   <w {times}{punctuation}>{said}</w>"
        )
    path.write_text("\n".join([*lines, "</nite:root>"]), encoding="iso-8859-1")
    heard = ("Okay, we'll {disfmarker} go.", "{vocalsound} Caf\xe9?")
    return [Known(path.stem, spoken=((None, heard[0], 3.34), (None, heard[1], 7.5)))]


def odt(path: Path) -> list[Known]:
    text, table = "urn:oasis:names:tc:opendocument:xmlns:text:1.0", "table:table"
    paragraphs = "".join(f"<text:p>{each}</text:p>" for each in PARAGRAPHS[1:])
    rows = "".join(
        f"<table:table-row><table:table-cell><text:p>{one}</text:p></table:table-cell>"
        f"<table:table-cell><text:p>{other}</text:p></table:table-cell></table:table-row>"
        for one, other in (("Item", "Cost"), ("Café", "5"))
    )
    body = (
        "<text:tracked-changes><text:p>secret</text:p></text:tracked-changes>"
        f"<text:h>{HEADINGS[0]}</text:h><text:p>{PARAGRAPHS[0]}</text:p>"
        f"<{table}>{rows}</{table}><text:h>{HEADINGS[1]}</text:h>{paragraphs}"
    )
    names = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    whole = (
        f'<office:document-content xmlns:office="{names}" xmlns:text="{text}"'
        ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    meta = (
        f'<office:document-meta xmlns:office="{names}" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<office:meta><dc:title>Minutes</dc:title></office:meta></office:document-meta>"
    )
    pack(path, {"content.xml": whole, "meta.xml": meta})
    words = (HEADINGS[0], PARAGRAPHS[0], "Item: Café | Cost: 5", HEADINGS[1], *PARAGRAPHS[1:])
    return [Known("Minutes", words=words, headings=HEADINGS)]


def rtf(path: Path) -> list[Known]:
    def coded(words: str) -> str:
        units = words.encode("utf-16-le")
        numbers = [int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2)]
        return "".join(
            chr(one) if one < 128 else f"\\u{one - 65536 if one > 32767 else one}?"
            for one in numbers
        )

    body = "".join(f"{{\\pard {coded(each)}\\par}}\n" for each in PARAGRAPHS)
    path.write_text(
        "{\\rtf1\\ansi\\ansicpg1252{\\info{\\title Minutes}{\\author secret}}"
        f"{{\\fonttbl{{\\f0 Arial;}}}}{body}"
        "\\trowd caf\\'e9\\cell 5\\cell\\row\\trowd tea\\cell 3\\cell\\row}"
    )
    return [Known("Minutes", words=(*PARAGRAPHS, "café | 5\ntea | 3"))]


def pack(path: Path, parts: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


def epub(path: Path) -> list[Known]:
    pages = {
        "one.xhtml": f"<h1>{HEADINGS[0]}</h1><p>{PARAGRAPHS[0]}</p>",
        "two.xhtml": f'<p>{PARAGRAPHS[1]}</p><h2 id="b">{HEADINGS[1]}</h2><p>{PARAGRAPHS[2]}</p>',
        "nav.xhtml": '<nav epub:type="toc"><a href="one.xhtml">The secret of nav</a>'
        '<a href="two.xhtml#b">Second <b>part</b></a></nav>',
    }
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in ("one.xhtml", "two.xhtml"))
    order = "".join(f'<itemref idref="{name}"/>' for name in pages)
    package = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Caf\u00e9s'
        f'</dc:title></metadata><manifest>{items}<item id="nav.xhtml" href="nav.xhtml"'
        f' properties="nav"/></manifest><spine>{order}</spine></package>'
    )
    pack(
        path,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="b/p.opf"/></container>',
            "b/p.opf": package,
            **{f"b/{name}": f"<html><body>{page}</body></html>" for name, page in pages.items()},
        },
    )
    words = (HEADINGS[0], *PARAGRAPHS[:2], HEADINGS[1], PARAGRAPHS[2])
    places = ("The secret of nav",) * 3 + ("Second part",) * 2
    return [Known("Cafés", words=words, places=places, headings=HEADINGS)]


def pptx(path: Path) -> list[Known]:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    made = Presentation()
    made.core_properties.title = "Plans"
    box = (Inches(1), Inches(3), Inches(4), Inches(2))
    slides = [made.slides.add_slide(made.slide_layouts[5]) for _ in range(4)]
    slides[0].shapes.title.text = HEADINGS[0]
    slides[0].shapes.add_textbox(*box).text_frame.text = PARAGRAPHS[0]
    slides[0].notes_slide.notes_text_frame.text = "Say that it is too much."
    slides[1].element.set("show", "0")
    slides[1].shapes.title.text = "secret"
    slides[2].shapes.title.text = HEADINGS[1]
    table = slides[2].shapes.add_table(2, 2, *box).table
    for cell, said in zip(table.iter_cells(), ("Item", "Cost", "Café", "5"), strict=True):
        cell.text = said
    chart = CategoryChartData()
    chart.categories = ["May", "June"]
    chart.add_series("Guests", (7, 8.5))
    slides[2].shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(6), *box[2:], chart)
    made.save(str(path))
    notes, rows = "Notes: Say that it is too much.", "May | Guests: 7\nJune | Guests: 8.5"
    words = (HEADINGS[0], PARAGRAPHS[0], notes, HEADINGS[1], "Item: Café | Cost: 5", rows)
    places = ("slide 1",) * 3 + ("slide 3",) * 3
    return [Known("Plans", words=words, places=places, headings=HEADINGS, unread=("slides (2)",))]


def xlsx(path: Path) -> list[Known]:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as made:
        made.set_properties({"title": "Costs"})
        day = made.add_format({"num_format": "yyyy-mm-dd"})
        budget, hidden, staff = (made.add_worksheet(name) for name in ("Budget", "Old", "Staff"))
        budget.merge_range("A1:E1", "Budget of Zoë")
        budget.write_row("A3", ["Item", "Due", "Cost"])
        budget.merge_range("C3:D3", "Cost")
        budget.write_row("A4", ["", "", 2025, 2026])
        budget.write_row("A5", ["Café", "", 5, 6.25])
        budget.write_datetime("B5", datetime(2026, 3, 14), day)
        budget.merge_range("A6:A7", "Tea. Hot.")
        budget.write_row("C6", [1, True])
        budget.write_formula("C7", "=C5+C6", None, 6)
        hidden.write("A1", "secret")
        hidden.hide()
        staff.write_row("B2", ["Name", "City"])
        staff.write_row("B3", ["Zoë", "東京"])
    budget_rows = (
        "Budget of Zoë",
        "Sheet: Budget | Item: Café | Due: 2026-03-14 | Cost 2025: 5 | Cost 2026: 6.25",
        "Sheet: Budget | Item: Tea. Hot. | Cost 2025: 1 | Cost 2026: TRUE",
        "Sheet: Budget | Item: Tea. Hot. | Cost 2025: 6",
    )
    lines = (*budget_rows, "Sheet: Staff | Name: Zoë | City: 東京")
    places = tuple(f"Budget, row {number}" for number in (1, 5, 6, 7))
    return [
        Known(
            "Costs",
            words=lines,
            places=(*places, "Staff, row 3"),
            headings=(lines[0], lines[-1]),
            unread=("hidden sheets (Old)",),
        )
    ]


def delimited(path: Path) -> list[Known]:
    mark = "\t" if path.suffix == ".tsv" else ";"
    rows = [("Item", "Cost"), ("Café, “très bon”", "5"), ('"Tea\n2"', "1,50"), ("", "")]
    text = "\r\n".join(mark.join(row) for row in rows)
    path.write_bytes(text.encode("cp1252"))
    words = ("Item: Café, “très bon” | Cost: 5", "Item: Tea 2 | Cost: 1,50")
    return [Known(path.stem, words=words, places=("row 2", "row 3"), headings=words[:1])]


def eml(path: Path) -> list[Known]:
    made, inner = EmailMessage(), EmailMessage()
    inner["From"], inner["Subject"] = "Bob <bob@example.org>", "Old plans"
    inner.set_content("Nothing was cut.")
    made["From"], made["To"] = (
        "Zoë Ng <zoe@example.org>",
        "Bob <bob@example.org>, Bob <al@example.org>",
    )
    made["Date"], made["Subject"] = "Tue, 03 Mar 2026 14:05:00 +0100", f"Re: {HEADINGS[0]}"
    made.set_content("see HTML")
    page = f"<p>{PARAGRAPHS[0]}</p><p hidden>secret</p><p>{PARAGRAPHS[1]}</p>"
    made.add_alternative(page, subtype="html")
    table = "Item,Cost\nCafé,5\n".encode()
    made.add_attachment(table, maintype="text", subtype="csv", filename="Übersicht.csv")
    made.add_attachment(inner)
    made.add_attachment(b"x", maintype="image", subtype="vnd.dwg", filename="plan.dwg")
    path.write_bytes(made.as_bytes())
    return mails(("Übersicht.csv", "Old plans.eml"), "+0100")


def msg(path: Path) -> list[Known]:
    day = datetime(2026, 3, 3, 14, 5, tzinfo=UTC)
    bob, zoe = ("Bob", "bob@example.org"), ("Zoë Ng", "zoe@example.org")
    old = outlook.mail(
        sender=bob, to=zoe, date=day, subject="Old plans", body="Nothing was cut.", inner=True
    )
    whole = outlook.mail(
        sender=zoe,
        to=bob,
        date=day,
        subject=f"Re: {HEADINGS[0]}",
        body=f"{PARAGRAPHS[0]}\r\n\r\n{PARAGRAPHS[1]}",
        files={"Übersicht.csv": "Item,Cost\nCafé,5\n".encode(), "plan.dwg": bytes(5000)},
        mails={"Old plans": old},
    )
    path.write_bytes(outlook.compound_file(whole))
    return mails(("Übersicht.csv", "Old plans"), "+0000")


def mails(parts: tuple[str, str], zone: str) -> list[Known]:
    subject = f"Re: {HEADINGS[0]}"
    head = ("From: Zoë Ng <zoe@example.org>", "To: Bob <bob@example.org>")
    date = f"Date: Tuesday, 3 March 2026, 14:05 {zone}"
    words = (*head, date, f"Subject: {subject}", *PARAGRAPHS[:2])
    place = "mail from Zoë Ng, 3 March 2026"
    unread = ("not read (plan.dwg)",)
    sent = f"2026-03-03T14:05:00{zone[:3]}:00", ("Zoë Ng", "Bob")
    whole = Known(subject, words, (), (place,) * 6, PARAGRAPHS[:1], unread=unread, occasion=sent)
    rows = ("Item: Café | Cost: 5",)
    table = Known(
        f"{subject}: {parts[0]}", rows, (), ("row 2",), rows, part=parts[0], occasion=sent
    )
    old = ("Bob", "Subject: Old plans", "Nothing was cut.")
    date = "2026-03-03T14:05:00+00:00" if parts[1] == "Old plans" else ""
    people = ("Bob", "Zoë Ng") if date else ("Bob",)
    inner = Known(
        f"{subject}: Old plans", old, (), (), old[2:], part=parts[1], occasion=(date, people)
    )
    return [whole, table, inner]


def picture(path: Path) -> list[Known]:
    words = ("Cut the budget on page one.", "Keep the cafe on page two.")
    first, second = map(line_of, words)
    if path.suffix.startswith(".tif"):
        first.save(path, save_all=True, append_images=[second])
        return [Known(path.stem, words=words, headings=words)]
    first.save(path)
    return [Known(path.stem, words=words[:1], headings=words[:1])]


def line_of(words: str) -> Image.Image:
    """A picture of a line of words, black on white."""
    made = Image.new("L", (900, 160), 255)
    font = ImageFont.truetype(str(font_file()), 40)
    ImageDraw.Draw(made).text((60, 50), words, fill=0, font=font)
    return made


BUILDERS: dict[str, Callable[[Path], list[Known]]] = {
    ".txt": text,
    ".md": markdown,
    ".markdown": markdown,
    ".pdf": pdf,
    ".docx": docx,
    ".odt": odt,
    ".rtf": rtf,
    ".epub": epub,
    ".pptx": pptx,
    ".xlsx": xlsx,
    ".csv": delimited,
    ".tsv": delimited,
    ".eml": eml,
    ".msg": msg,
    ".html": html,
    ".htm": html,
    ".vtt": vtt,
    ".srt": srt,
    ".json": qmsum,
    ".jsonl": qmsum_lines,
    ".eaf": eaf,
    ".xml": nxt,
    ".png": picture,
    ".jpg": picture,
    ".jpeg": picture,
    ".tif": picture,
    ".tiff": picture,
}


@pytest.fixture(params=LOADERS)
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> list[tuple[Document, Known]]:
    """Each document of a file of each suffix beside what it was made of."""
    path = tmp_path / f"weekly{request.param}"
    known = BUILDERS[request.param](path)
    found = read_by_ocr(path)
    documents = [each for each in found if isinstance(each, Document)]
    failures = [each for each in found if isinstance(each, Failure)]
    unread = [what for each in known for what in each.unread]
    for failure, what in zip(failures, unread, strict=True):
        assert failure.beside_text and what in failure.reason
    return list(zip(documents, known, strict=True))


def test_known_words_stand_in_the_text_in_order(loaded: list[tuple[Document, Known]]) -> None:
    for document, known in loaded:
        at = 0
        for words in known.words:
            start = document.text.find(words, at)
            assert start >= 0, f"{words!r} is not in {document.text[at:]!r}"
            at = start + len(words)
        assert "secret" not in document.text
        assert "Menu" not in document.text


def test_turns_point_at_the_words_spoken(loaded: list[tuple[Document, Known]]) -> None:
    for document, known in loaded:
        spoken = tuple(
            (utterance.speaker, document.text[utterance.text_start : utterance.end], utterance.time)
            for utterance in document.utterances
        )
        assert spoken == known.spoken
        for utterance in document.utterances:
            label = document.text[utterance.start : utterance.text_start]
            assert label == (f"{utterance.speaker}: " if utterance.speaker else "")
            assert document.utterance_at(utterance.text_start) == utterance


def test_title_part_format_and_identity(loaded: list[tuple[Document, Known]]) -> None:
    for document, known in loaded:
        assert (document.title, document.part) == (known.title, known.part)
        assert document.format == known.format or LOADERS[Path(document.path).suffix].format
    assert len({document.id for document, _ in loaded}) == len(loaded)


def test_places_are_those_of_the_viewer(loaded: list[tuple[Document, Known]]) -> None:
    for document, known in loaded:
        if known.places:
            found = [document.place_at(document.text.index(words)) for words in known.words]
            assert tuple(found) == known.places
        numbers = [page.number for page in document.pages]
        assert numbers == sorted(set(numbers))
        for page, following in pairwise(document.pages):
            assert page.start <= page.end <= following.start


def test_dates_and_people_are_those_that_the_file_names(
    loaded: list[tuple[Document, Known]],
) -> None:
    for document, known in loaded:
        assert (document.occasion.date, document.occasion.participants) == known.occasion


def test_breaks_are_the_headings(loaded: list[tuple[Document, Known]]) -> None:
    for document, known in loaded:
        assert len(document.breaks) == len(known.headings)
        for at, heading in zip(document.breaks, known.headings, strict=True):
            assert document.text.startswith(heading, at)


def test_spans_are_ordered_and_the_text_is_clean(loaded: list[tuple[Document, Known]]) -> None:
    for document, _ in loaded:
        at = 0
        for utterance in document.utterances:
            assert (
                at <= utterance.start <= utterance.text_start <= utterance.end <= len(document.text)
            )
            at = utterance.end
        assert list(document.breaks) == sorted(set(document.breaks))
        assert not set("\r\0\ufeff") & set(document.text)
        document.text.encode("utf-8")


def test_passages_hold_every_word(loaded: list[tuple[Document, Known]]) -> None:
    for document, _ in loaded:
        words = [
            word
            for passage in split(document)
            for word in document.text[passage.start : passage.end].split()
        ]
        assert words == document.text.split()


def test_reading_again_gives_the_same(loaded: list[tuple[Document, Known]]) -> None:
    again = [each for each in read_by_ocr(Path(loaded[0][0].path)) if isinstance(each, Document)]
    assert again == [document for document, _ in loaded]


def test_identity_is_the_hash_of_path_and_part(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "a.jsonl"
    qmsum_lines(path)
    for document in read(path):
        assert isinstance(document, Document)
        key = f"{path.resolve().as_posix()}\0{document.part}".encode()
        assert document.id == hashlib.sha256(key).hexdigest()[:12]


def test_digest_follows_the_content_and_not_the_path(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("Alice: Hi.\nBob: Hi.\nAlice: Bye.")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.txt").write_text("Alice: Hi.\nBob: Hi.\nAlice: Bye!")
    one, two, other = (read(tmp_path / folder / "a.txt")[0] for folder in ("one", "two", "b"))
    assert isinstance(one, Document) and isinstance(two, Document) and isinstance(other, Document)
    assert one.digest == two.digest != other.digest
    assert len({one.id, two.id, other.id}) == 3


spoken = st.lists(
    st.tuples(st.text(max_size=12), st.text(max_size=60)), min_size=1, max_size=8
).filter(lambda utterances: any(name.strip() or words.strip() for name, words in utterances))


@settings(max_examples=60, deadline=None)
@given(spoken)
def test_a_meeting_is_never_changed(
    tmp_path_factory: pytest.TempPathFactory, utterances: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("qmsum") / "m.json"
    given_turns = [{"speaker": name, "content": words} for name, words in utterances]
    path.write_text(json.dumps({"meeting_transcripts": given_turns}), encoding="utf-8")
    (document,) = read(path)
    assert isinstance(document, Document)
    whole = "\n".join(f"{one_line(name)}: {clean(words)}" for name, words in utterances)
    assert document.text == whole
    assert [
        document.text[utterance.text_start : utterance.end] for utterance in document.utterances
    ] == [clean(words) for _, words in utterances]


def test_libraries_stay_silent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    from fpdf import FPDF

    made = FPDF()
    made.add_page()
    data = io.BytesIO(bytes(made.output()))
    (tmp_path / "a.pdf").write_bytes(data.getvalue().replace(b"startxref\n", b"startxref\n9"))
    (tmp_path / "b.html").write_text('<?xml version="1.0"?><html><p>x</p></html>')
    (tmp_path / "c.html").write_text("http://a.example/b.html")
    for name in ("a.pdf", "b.html", "c.html"):
        read(tmp_path / name)
    assert capfd.readouterr() == ("", "")
    assert [str(each.message) for each in recwarn] == []
