"""A small sound file of each format, to be mutated."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime

from campaign import outlook

SPOKEN = (("Ana", "The probe fell into the lake, I think."), ("Bob", "Why? It cost €5,000."))
CONTAINERS = {
    ".docx": "word/document.xml",
    ".pptx": "ppt/slides/slide1.xml",
    ".xlsx": "xl/worksheets/sheet1.xml",
    ".epub": "p.opf",
    ".odt": "content.xml",
}
"""The suffixes of ZIP files, each with the part that holds most words."""


def seeds() -> dict[str, bytes]:
    """A small file of each format, by the end of its name."""
    words = "\n".join(f"{name}: {said}" for name, said in SPOKEN)
    meeting = {"meeting_transcripts": [{"speaker": a, "content": b} for a, b in SPOKEN]}
    cues = [f"00:00:0{n},000 --> 00:00:0{n + 1},000\n{a}: {b}\n" for n, (a, b) in enumerate(SPOKEN)]
    srt = "\n".join(f"{number}\n{cue}" for number, cue in enumerate(cues, 1))
    page = "".join(f"<h2>{a}</h2><p>{b}<table><tr><td>1<td>2</table>" for a, b in SPOKEN)
    texts = {
        ".txt": f"Minutes\n\n{words}\n",
        ".md": f"---\ntitle: Minutes\n---\n# Lake\n\n{words}\n\n```\ncode\n```\n",
        ".html": f"<!doctype html><meta charset=utf-8><title>Minutes</title>{page}",
        ".vtt": "WEBVTT\n\n" + "\n".join(cues).replace(",000", ".000"),
        ".srt": srt,
        ".json": json.dumps(meeting),
        ".csv": "Name;Words\n" + "\n".join(f'{a};"{b}"' for a, b in SPOKEN),
        ".rtf": "{\\rtf1{\\info{\\title Lake}}{\\fonttbl{\\f0\\fcharset0 Arial;}}"
        "Caf\\'e9\\u8364?\\par}",
        ".eml": "From: Ana <a@example.org>\nSubject: =?utf-8?q?Lake?=\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html; charset=utf-8\n"
        f"\n{page}\n--x\nContent-Type: text/csv; name=a.csv\n\na,b\n1,2\n--x--\n",
        ".eaf": _annotations(),
        ".xml": "<nite:root xmlns:nite='n'><w starttime='1' endtime='2'>Okay</w>"
        "<vocalsound starttime='2' endtime='3'/><w starttime='4' endtime='5'>lake</w></nite:root>",
        ".jsonl": f"{json.dumps({'id': 'a', **meeting})}\n{json.dumps(meeting)}\n",
    }
    made = {suffix: text.encode() for suffix, text in texts.items()}
    return {
        **made,
        ".docx": _word(),
        ".pdf": _pdf(),
        ".pptx": _slides(),
        ".xlsx": _workbook(),
        ".epub": _book(),
        ".odt": _open_document(),
        ".msg": _outlook(),
    }


def _word() -> bytes:
    from docx import Document as Word

    made, data = Word(), io.BytesIO()
    made.add_heading("Lake", level=1)
    for name, said in SPOKEN:
        made.add_paragraph(f"{name}: {said}")
    made.add_table(rows=2, cols=2).cell(0, 0).text = "cell"
    made.save(data)
    return data.getvalue()


def _pdf() -> bytes:
    from fpdf import FPDF

    made = FPDF()
    made.set_font("Helvetica", size=12)
    for name, said in SPOKEN:
        made.add_page()
        made.cell(text=f"{name}: {said}".replace("€", "EUR "))
    return bytes(made.output())


def _annotations() -> str:
    times = "".join(
        f"<TIME_SLOT TIME_SLOT_ID='t{at}' TIME_VALUE='{at * 1000}'/>"
        for at in range(len(SPOKEN) + 1)
    )
    tiers = "".join(
        f"<TIER TIER_ID='{name}'><ANNOTATION><ALIGNABLE_ANNOTATION TIME_SLOT_REF1='t{at}'"
        f" TIME_SLOT_REF2='t{at + 1}'><ANNOTATION_VALUE>{said}</ANNOTATION_VALUE>"
        "</ALIGNABLE_ANNOTATION></ANNOTATION></TIER>"
        for at, (name, said) in enumerate(SPOKEN)
    )
    return f"<ANNOTATION_DOCUMENT><TIME_ORDER>{times}</TIME_ORDER>{tiers}</ANNOTATION_DOCUMENT>"


def _slides() -> bytes:
    from pptx import Presentation

    made, data = Presentation(), io.BytesIO()
    for name, said in SPOKEN:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = said
    made.save(data)
    return data.getvalue()


def _workbook() -> bytes:
    import xlsxwriter

    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as made:
        sheet = made.add_worksheet("Lake")
        sheet.merge_range("A1:B1", "Minutes")
        for number, row in enumerate((("Name", "Words"), *SPOKEN), 2):
            sheet.write_row(number, 0, row)
        sheet.write_formula("C5", "=1+1", None, 2)
    return data.getvalue()


def _book() -> bytes:
    items = "<item id='a' href='a.html'/><item id='n' href='n.html' properties='nav'/>"
    package = f"<package><manifest>{items}</manifest><spine><itemref idref='a'/></spine></package>"
    chapters = "".join(f"<h2 id='{name}'>{name}</h2><p>{said}</p>" for name, said in SPOKEN)
    return _packed(
        {
            "META-INF/container.xml": "<container><rootfile full-path='p.opf'/></container>",
            "p.opf": package,
            "a.html": f"<html><body>{chapters}</body></html>",
            "n.html": "<nav><a href='a.html#Bob'>Bob's part</a></nav>",
        }
    )


def _open_document() -> bytes:
    body = "".join(f"<t:h>{name}</t:h><t:p>{said}<t:s t:c='3'/></t:p>" for name, said in SPOKEN)
    names = "urn:oasis:names:tc:opendocument:xmlns"
    return _packed(
        {
            "content.xml": f"<o:text xmlns:o='{names}:office:1.0' xmlns:t='{names}:text:1.0'>{body}"
            "<x:table xmlns:x='table'><x:table-row><x:table-cell x:number-columns-repeated='2'>"
            "<t:p>cell</t:p></x:table-cell></x:table-row></x:table></o:text>"
        }
    )


def _packed(parts: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return data.getvalue()


def _outlook() -> bytes:
    mail = outlook.mail(
        sender=("Ana", "ana@example.org"),
        to=("Bob", "bob@example.org"),
        date=datetime(2026, 3, 3, tzinfo=UTC),
        subject="Lake",
        body="\n".join(said for _, said in SPOKEN),
        files={"a.csv": b"a,b\n1,2\n"},
    )
    return outlook.compound_file(mail)
