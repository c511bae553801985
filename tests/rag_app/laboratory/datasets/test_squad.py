"""Articles with questions, of both forms; damage is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from indexing.errors import UnreadableFile
from rag_app.laboratory.datasets.squad import articles

FERRY, MILL = "The ferry sails at nine.", "The mill burned down in 1911."
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Ellmere",
            "paragraphs": [
                {
                    "context": FERRY,
                    "qas": [
                        {
                            "question": "When?",
                            "answers": [
                                {"text": "nine", "answer_start": 19},
                                {"text": "at nine", "answer_start": 16},
                            ],
                        },
                        {"question": "Why?", "is_impossible": True, "answers": []},
                    ],
                },
                {
                    "context": MILL,
                    "qas": [
                        {"question": "Year?", "answers": [{"text": "1911", "answer_start": 24}]}
                    ],
                },
            ],
        }
    ],
}
LINES: list[dict[str, Any]] = [
    {
        "source": "x",
        "title": "Ellmere",
        "text": FERRY,
        "questions": [
            {"id": "1", "question": "When?", "answers": [[19, 23], [16, 23]]},
            {"id": "2", "question": "Why?", "answers": []},
        ],
    },
    {
        "source": "x",
        "title": "Ellmere",
        "text": MILL,
        "questions": [{"id": "3", "question": "Year?", "answers": [[24, 28]]}],
    },
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def written(folder: Path, form: str) -> Path:
    path = folder / f"questions.{form}"
    if form == "json":
        path.write_text(json.dumps(SQUAD), encoding="utf-8")
    elif form == "jsonl":
        path.write_text(lines(LINES), encoding="utf-8")
    else:
        path.write_bytes(gzip.compress(lines(LINES).encode()))
    return path


@pytest.mark.parametrize("form", ["json", "jsonl", "jsonl.gz"])
def test_passages_of_a_title_are_one_document(tmp_path: Path, form: str) -> None:
    (article,) = articles(written(tmp_path, form)) or []
    text = article.document.text
    assert text == f"{FERRY}\n\n{MILL}"
    assert [one.text for one in article.questions] == ["When?", "Why?", "Year?"]
    words = [[text[start:end] for start, end in one.spans] for one in article.questions]
    assert words == [["nine", "at nine"], [], ["1911"]]


def test_other_forms_are_left_to_others(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(lines([{"question": "When?", "answerable": True}]))
    meeting = tmp_path / "meeting.json"
    meeting.write_text(json.dumps({"meeting_transcripts": []}))
    assert articles(own) is None and articles(meeting) is None and articles(tmp_path) is None


def test_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text(lines([{**LINES[0], "questions": [{"question": "?", "answers": [[5, 500]]}]}]))
    with pytest.raises(UnreadableFile, match="outside of its passage"):
        articles(path)
    cut = written(tmp_path, "jsonl.gz")
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(UnreadableFile, match="not JSON"):
        articles(cut)
