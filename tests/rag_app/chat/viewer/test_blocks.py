"""Whatever is shown of a document is its text, in order and once, with the quote marked exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.files import FileReader
from rag_app.chat.viewer import blocks
from rag_app.chat.viewer.blocks import PART, Block

SAMPLES = Path(__file__).resolve().parents[4] / "data" / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix not in {".jsonl", ".json"})


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    with FileReader() as reader:
        read = {path.name: reader.read(path)[0] for path in FILES}
    return {name: one for name, one in read.items() if isinstance(one, Document)}


def all_blocks(document: Document) -> list[Block]:
    return [one for span in blocks.parts(document) for one in blocks.blocks(document, *span)]


def test_parts_and_blocks_hold_every_word_once(documents: dict[str, Document]) -> None:
    assert len(documents) == len(FILES)
    for name, document in documents.items():
        spans = blocks.parts(document)
        assert "".join(document.text[a:b] for a, b in spans) == document.text, name
        assert all(b - a <= 2 * PART for a, b in spans)
        shown = all_blocks(document)
        assert "".join(
            "".join(document.text[one.start : one.end].split()) for one in shown
        ) == "".join(document.text.split()), name
        for at in range(0, len(document.text), 997):
            first, last = spans[blocks.part_of(spans, at)]
            assert first <= at < last


def test_structure_is_what_people_see(documents: dict[str, Document]) -> None:
    def texts(name: str, kind: str) -> list[str]:
        document = documents[name]
        shown = [one for one in all_blocks(document) if one.kind == kind]
        return [document.text[one.text_start : one.end].strip() for one in shown]

    markdown = documents["shoreline-outage-postmortem.md"].text
    headings = [line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")]
    assert texts("shoreline-outage-postmortem.md", "heading") == headings
    for name in ("staff-handbook.html", "probe-supply-agreement.docx"):
        assert texts(name, "heading")
    spoken = documents["heron-5-field-trial.vtt"]
    utterances = [one for one in all_blocks(spoken) if one.kind == "utterance"]
    assert [(one.speaker, one.time) for one in utterances] == [
        (one.speaker, one.time) for one in spoken.utterances
    ]
    paged = documents["state-of-the-ellmere-2024.pdf"]
    places = [one.place for one in all_blocks(paged) if one.place]
    assert places == [f"page {page.number}" for page in paged.pages]


def test_lines_of_a_pdf_flow_where_they_are_full() -> None:
    lines = (
        "The ferry leaves the landing at",
        "six in the morning, and nobody",
        "rows.",
        "2 Fares",
    )
    text = "\n".join((*lines, "A ticket costs fourpence, there"))
    document = Document("a", "a.pdf", "", "A", "pdf", "", text)
    flown = blocks.flowing(document, 4, len(text))
    assert flown == f"{lines[0]} {lines[1]} rows.\n2 Fares\nA ticket costs fourpence, there"[4:]
    plain = Document("a", "a.txt", "", "A", "text", "", text)
    assert blocks.flowing(plain, 4, 90) == text[4:90]
    paragraphs = [text[one.start : one.end].count("\n") for one in all_blocks(document)]
    assert paragraphs == [2, 0, 0]


def test_a_row_of_a_table_is_one_record(tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_text("Bird,Ring\nKnot,K-77\nTern,T-12\n")
    with FileReader() as reader:
        (document,) = reader.read(tmp_path / "birds.csv")
    assert isinstance(document, Document)
    shown = all_blocks(document)
    assert {one.kind for one in shown} == {"record"}
    assert [one.place for one in shown] == [page.place for page in document.pages]
    assert "T-12" in document.text[shown[-1].start : shown[-1].end]


def test_a_text_without_lines_is_parted_all_the_same() -> None:
    text = "word " * 20_000
    document = Document("a", "a", "", "A", "text", "", text)
    spans = blocks.parts(document)
    assert len(spans) > 5 and "".join(text[a:b] for a, b in spans) == text
    assert blocks.parts(Document("a", "a", "", "A", "text", "", "x" * 50_000))[-1][1] == 50_000


def test_marks_are_cut_exactly() -> None:
    found = blocks.pieces("abcdefgh", 1, 7, [(0, 2), (4, 6)])
    assert [(one.text, one.marked) for one in found] == [
        ("b", True),
        ("cd", False),
        ("ef", True),
        ("g", False),
    ]


def test_cells_of_a_row() -> None:
    for row in ("| a | b b |", "a | b b"):
        assert [row[x:y] for x, y in blocks.cells(row, 0, len(row))] == ["a", "b b"]
    assert blocks.is_rule("|---|:--:|") and not blocks.is_rule("a | b")
