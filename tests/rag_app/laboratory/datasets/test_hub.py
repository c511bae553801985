"""Tasks of the hub: read from a folder of the same layout, refused when out of reach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from indexing.errors import UnreadableFile
from rag_app.laboratory.datasets import hub


def write(folder: Path, **files: list[dict[str, str]]) -> Path:
    for name, rows in files.items():
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder


CORPUS = [{"doc_id": "d1", "text": "One."}, {"doc_id": "d2", "text": "Two."}]
QUERIES = [{"qid": "q1", "text": "Which is two?"}, {"qid": "q2", "text": "And one?"}]
QRELS = [{"qid": "q2", "doc_id": "d1"}, {"qid": "q1", "doc_id": "d2"}]


def test_a_folder_with_the_three_files(tmp_path: Path) -> None:
    folder = write(tmp_path, corpus=CORPUS, queries=QUERIES, qrels=QRELS)
    task = hub.load("2wikimqa", folder)
    assert [document.text for document in task.documents] == ["One.", "Two."]
    assert [(query.text, query.gold) for query in task.queries] == [
        ("Which is two?", 1),
        ("And one?", 0),
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"corpus": CORPUS, "queries": QUERIES},
        {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS[:1]},
        {"corpus": CORPUS[:1], "queries": QUERIES, "qrels": QRELS},
        {"corpus": [{"doc_id": "d1"}], "queries": [], "qrels": []},
        {"corpus": [], "queries": [], "qrels": []},
    ],
)
def test_what_is_not_whole_is_refused(tmp_path: Path, files: dict[str, list[Any]]) -> None:
    with pytest.raises(UnreadableFile):
        hub.load("narrativeqa", write(tmp_path, **files))


def test_out_of_reach_says_what_to_do(tmp_path: Path) -> None:
    words = ["evaluate", "longembed", "--task", "summscreenfd"]
    run = subprocess.run(
        [sys.executable, "-c", f"from rag_app.cli.main import main; main({words})"],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("rag-app: ")]
    assert "summ_screen_fd" in line
    assert "--data" in line
    assert "Traceback" not in run.stderr
