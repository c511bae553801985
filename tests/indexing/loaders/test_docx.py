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
