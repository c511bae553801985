"""What a reader sees of Markdown, HTML, Word and PDF: structure kept, the unseen left out."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.files import read


def loaded(path: Path) -> Document:
    (found,) = read(path)
    assert isinstance(found, Document), found
    return found


def of_markdown(tmp_path: Path, text: str) -> Document:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    return loaded(tmp_path / "a.md")


def of_html(tmp_path: Path, body: str) -> Document:
    (tmp_path / "a.html").write_text(body, encoding="utf-8")
    return loaded(tmp_path / "a.html")


def test_markdown_headings_stand_outside_of_code_and_front_matter(tmp_path: Path) -> None:
    text = (
        "---\ntags: x\n# no heading: here\n---\n\n# The *Plan* [here](url) ##\n\n"
        "```\n# no heading\n```\n\nSecond\n------\n\n- item\n---\n\n#hashtag\n\n### Third\nend"
    )
    found = of_markdown(tmp_path, text)
    assert found.text == text
    assert found.title == "The Plan here"
    assert [found.text[at:].split("\n")[0] for at in found.breaks] == [
        "# The *Plan* [here](url) ##",
        "Second",
        "### Third",
    ]


def test_markdown_title_in_front_matter(tmp_path: Path) -> None:
    assert of_markdown(tmp_path, '---\ntitle: "Budget"\n---\n# Other\n').title == "Budget"
    assert of_markdown(tmp_path, "words only").title == "a"


def test_markdown_transcripts_keep_their_headings(tmp_path: Path) -> None:
    text = "# Weekly\n\n**Al:** We cut it.\n\n## Item 2\n\n**Bo:** We keep it.\n\n**Al:** No."
    found = of_markdown(tmp_path, text)
    assert [found.text[utterance.text_start : utterance.end] for utterance in found.utterances] == [
        "We cut it.",
        "We keep it.",
        "No.",
    ]
    assert found.breaks == (0, text.index("## Item"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>one\n  two</p><p>three</p>", "one two\n\nthree"),
        ("<p>one<br>two <b>bold</b>ly</p>", "one\ntwo boldly"),
        ("<ul><li>one</li><li>two</li></ul>after", "one\ntwo\n\nafter"),
        (
            "<table><tr><th>a</th><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>",
            "a | b\nc | d",
        ),
        ("<pre>a\n  b</pre><p>c</p>", "a\n  b\n\nc"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("a<script>x</script><!-- x --><style>x</style><template>x</template>b", "ab"),
        ("<nav>x</nav><p hidden>x</p><p aria-hidden='true'>x</p>a", "a"),
        ("<p style='color:red; DISPLAY : none'>x</p><p style='color:red'>a</p>", "a"),
        ("&lt;b&gt; &amp; &eacute;&nbsp;&#128512;", "<b> & é\u00a0😀"),
        ("<header><h1>a</h1></header><footer>b</footer>", "a\n\nb"),
        ("just words", "just words"),
        ("<p>never <i>closed<p>again", "never closed\n\nagain"),
    ],
)
def test_html_blocks(body: str, text: str, tmp_path: Path) -> None:
    assert of_html(tmp_path, body).text == text


def test_html_titles_and_depth(tmp_path: Path) -> None:
    assert of_html(tmp_path, "<title> The\n Plan </title><p>x").title == "The Plan"
    assert of_html(tmp_path, "<p>x</p><h2>First</h2><h1>Second</h1>").title == "First"
    assert of_html(tmp_path, "<p>x").title == "a"
    deep = of_html(tmp_path, "<div>" * 20_000 + "<p>in the depth" + "</div>" * 20_000 + "<p>out")
    assert "out" in deep.text or "in the depth" in deep.text


def test_word_documents_keep_what_the_reader_sees(tmp_path: Path) -> None:
    from docx import Document as Word
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    made = Word()
    made.add_heading("The plan", level=0)
    paragraph = made.add_paragraph("kept ")
    for tag, words in (("ins", "inserted"), ("moveFrom", "moved away")):
        run = f"<w:r><w:t>{words}</w:t></w:r>"
        mark = f'<w:{tag} {nsdecls("w")} w:id="1" w:author="a">{run}</w:{tag}>'
        paragraph._p.append(parse_xml(mark))
    deleted = "<w:r><w:delText>deleted</w:delText></w:r>"
    paragraph._p.append(parse_xml(f'<w:del {nsdecls("w")} w:id="2" w:author="a">{deleted}</w:del>'))
    control = "<w:p><w:r><w:t>in a\tcontrol</w:t><w:br/><w:t>and below</w:t></w:r></w:p>"
    body = made.element.body
    inside = f"<w:sdt {nsdecls('w')}><w:sdtContent>{control}</w:sdtContent></w:sdt>"
    body.insert(len(body) - 1, parse_xml(inside))
    for item in ("one", "two"):
        made.add_paragraph(item, style="List Bullet")
    table = made.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).text, table.cell(1, 1).text = "left", "right\nbelow"
    made.add_paragraph("end")
    path = tmp_path / "a.docx"
    made.save(str(path))
    found = loaded(path)
    assert found.title == "The plan"
    assert found.text == (
        "The plan\n\nkept inserted\n\nin a control\nand below\n\n"
        "one\ntwo\nwide\nleft | right below\n\nend"
    )
    assert found.breaks == (0,)


def test_pdf_words_broken_at_a_line_end_are_put_together_when_known(tmp_path: Path) -> None:
    from fpdf import FPDF

    made = FPDF()
    made.set_font("Helvetica", size=12)
    made.set_title("Microsoft Word - draft.docx")
    made.add_page()
    for line in ("The information was old.", "New infor-", "mation is well-", "known here."):
        made.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    made.output(str(tmp_path / "a.pdf"))
    found = loaded(tmp_path / "a.pdf")
    assert found.text == "The information was old.\nNew information\n is well-\nknown here."
    assert found.title == "a"


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
