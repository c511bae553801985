"""What a reader sees of Markdown: headings, front matter, transcripts."""

from __future__ import annotations

from pathlib import Path

from indexing.documents import Document
from indexing.walk import Failure
from tests.indexing.loaders.written import read_text
from tests.reading import read


def test_markdown_headings_stand_outside_of_code_and_front_matter(tmp_path: Path) -> None:
    text = (
        "---\ntags: x\n# no heading: here\n---\n\n# The *Plan* [here](url) ##\n\n"
        "```\n# no heading\n```\n\nSecond\n------\n\n- item\n---\n\n#hashtag\n\n### Third\nend"
    )
    document = read_text(tmp_path / "a.md", text)
    assert document.text == text.partition("---\n\n")[2]
    assert document.title == "The Plan here"
    assert [document.text[at:].split("\n")[0] for at in document.breaks] == [
        "# The *Plan* [here](url) ##",
        "Second",
        "### Third",
    ]


def test_markdown_title_in_front_matter(tmp_path: Path) -> None:
    front = '---\ntitle: "Budget"\ntags:\n  - secret\n---\n'
    document = read_text(tmp_path / "a.md", f"{front}# Other\n")
    assert (document.title, document.text) == ("Budget", "# Other\n")
    assert read_text(tmp_path / "a.md", front).text == front
    assert read_text(tmp_path / "a.md", "words only").title == "a"


def test_markdown_transcripts_keep_their_headings(tmp_path: Path) -> None:
    text = "# Weekly\n\n**Al:** We cut it.\n\n## Item 2\n\n**Bo:** We keep it.\n\n**Al:** No."
    document = read_text(tmp_path / "a.md", text)
    assert [
        document.text[utterance.text_start : utterance.end] for utterance in document.utterances
    ] == [
        "We cut it.",
        "We keep it.",
        "No.",
    ]
    assert document.breaks == (0, text.index("## Item"))


def test_a_picture_within_the_text_is_cut_short_and_told(tmp_path: Path) -> None:
    path, letters = tmp_path / "a.md", "iVBORw0KGgo+/" * 90_000
    path.write_text(f"# Plan\n\nBefore ![a map](data:image/png;base64,{letters}==) after.\n")
    document, remark = read(path)
    assert isinstance(document, Document) and isinstance(remark, Failure)
    assert document.text == "# Plan\n\nBefore ![a map](data:image/png;base64,...) after.\n"
    assert remark.beside_text and remark.reason == "has pictures within its text (1)"
