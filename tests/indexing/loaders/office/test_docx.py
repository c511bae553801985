"""What a reader sees of a Word file: headings, lists, tables, insertions."""

from __future__ import annotations

from pathlib import Path

from tests.indexing.loaders.written import read_one


def test_word_documents_keep_what_the_reader_sees(tmp_path: Path) -> None:
    from docx import Document as Word
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    file = Word()
    file.add_heading("The plan", level=0)
    paragraph = file.add_paragraph("kept ")
    for tag, words in (("ins", "inserted"), ("moveFrom", "moved away")):
        run = f"<w:r><w:t>{words}</w:t></w:r>"
        mark = f'<w:{tag} {nsdecls("w")} w:id="1" w:author="a">{run}</w:{tag}>'
        paragraph._p.append(parse_xml(mark))
    deleted = "<w:r><w:delText>deleted</w:delText></w:r>"
    paragraph._p.append(parse_xml(f'<w:del {nsdecls("w")} w:id="2" w:author="a">{deleted}</w:del>'))
    control = "<w:p><w:r><w:t>in a\tcontrol</w:t><w:br/><w:t>and below</w:t></w:r></w:p>"
    body = file.element.body
    inside = f"<w:sdt {nsdecls('w')}><w:sdtContent>{control}</w:sdtContent></w:sdt>"
    body.insert(len(body) - 1, parse_xml(inside))
    for item in ("one", "two"):
        file.add_paragraph(item, style="List Bullet")
    table = file.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).text, table.cell(1, 1).text = "left", "right\nbelow"
    file.add_paragraph("end")
    path = tmp_path / "a.docx"
    file.save(str(path))
    document = read_one(path)
    assert document.title == "The plan"
    assert document.text == (
        "The plan\n\nkept inserted\n\nin a control\nand below\n\n"
        "one\ntwo\nwide\nleft | right below\n\nend"
    )
    assert document.breaks == (0,)


def test_tables_within_tables_are_there_once(tmp_path: Path) -> None:
    from docx import Document as Word

    file = Word()
    cell, depth = file.add_table(rows=1, cols=2).cell(0, 0), 60
    for level in range(depth):
        cell.paragraphs[0].text = f"level-{level}"
        cell = cell.add_table(rows=1, cols=1).cell(0, 0)
    cell.text = "innermost"
    file.tables[0].cell(0, 1).text = "beside"
    path = tmp_path / "a.docx"
    file.save(str(path))
    levels = " ".join(f"level-{level}" for level in range(depth))
    assert read_one(path).text == f"{levels} innermost | beside"


def test_a_transcript_by_teams(tmp_path: Path) -> None:
    """A picture, the name and the time stand in one paragraph with the words below."""
    from docx import Document as Word

    file = Word()
    for line in ("Standup-20260314_093012-Meeting Recording", "14 March 2026, 09:30am", "27m 42s"):
        file.add_paragraph(line)
    file.add_paragraph("Ada Park started transcription")
    for name, clock, words in (
        ("Ada Park", "0:03", "The mast fell.\nLast night."),
        ("Bob Stone", "0:41", "It was old."),
        ("Ada Park", "1:02:03", "So we order a new one."),
    ):
        paragraph = file.add_paragraph()
        paragraph.add_run().add_break()  # where the picture of the speaker was
        paragraph.add_run(name).bold = True
        paragraph.add_run(f"   {clock}")
        for line in words.split("\n"):
            paragraph.add_run().add_break()
            paragraph.add_run(line)
    file.add_paragraph("Ada Park stopped transcription")
    path = tmp_path / "transcript.docx"
    file.save(str(path))
    document = read_one(path)
    assert [
        (one.speaker, one.time, document.text[one.text_start : one.end])
        for one in document.utterances
    ] == [
        ("Ada Park", 3.0, "The mast fell.\nLast night."),
        ("Bob Stone", 41.0, "It was old."),
        ("Ada Park", 3723.0, "So we order a new one."),
    ]
    assert document.occasion.date == "2026-03-14T09:30:00"
