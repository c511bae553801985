"""The commands, with the real small model on tiny data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from indexing.encoder.settings import EncoderSettings
from indexing.extension import METHODS
from rag_app.cli import option_types
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.commands import evaluate as command
from rag_app.laboratory.datasets.facts import facts
from rag_app.laboratory.evaluation import longembed, needle, table

SMALL = ["--extension", "none", "--max-length", "32"]


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, words)])


def as_json(*words: object) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_choices_are_what_there_is() -> None:
    assert list(METHODS) == option_types.EXTENSIONS
    assert list(longembed.TASKS) == command.TASKS


def test_qmsum_twice(meetings_file: Path, tmp_path: Path) -> None:
    words = ["longembed", "--task", "qmsum", "--data", meetings_file, "--corpus", tmp_path, *SMALL]
    first, second = as_json(*words), as_json(*words)
    assert (first["task"], first["documents"], first["queries"]) == ("qmsum", 2, 4)
    assert first["ndcg_at_10"] == first["acc_at_1"] == 1.0
    assert first["retriever"] == "default"
    assert first["fingerprint"]["extension"] == "none"
    assert first["fingerprint"]["max_length"] == 32
    assert (first["encoded"], second["encoded"]) == (2, 0)
    assert second["seconds"]["encode"] == 0
    changing = {"encoded": None, "seconds": None}
    assert first | changing == second | changing


def test_evidence_shape(meetings_file: Path) -> None:
    report = as_json("evidence", "--data", meetings_file, *SMALL, "--ranking", "dense")
    assert report["task"] == "evidence"
    for where in ("corpus", "document"):
        assert list(report[where]) == ["1000", "2000"]
        for coverage in report[where].values():
            assert 0 <= coverage["recall"] <= coverage["hit"] <= 1


def test_passkey_at_two_lengths(tmp_path: Path) -> None:
    words = ["longembed", "--task", "passkey", "--lengths", "64,80", *SMALL, "--ranking", "bm25"]
    report = as_json(*words, "--documents", "60", "--corpus", tmp_path)
    assert (report["documents"], report["queries"]) == (120, 100)
    assert report["acc_at_1"] == report["lengths"]["80"]["acc_at_1"] == 1.0
    assert (tmp_path / "passkey-64" / "corpus.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["longembed", "--task", "qmsum"], "--data"),
        (["longembed", "--task", "qmsum", "--data", "nowhere.jsonl"], "nowhere.jsonl"),
        (["longembed", "--task", "passkey", "--lengths", "8"], "too short"),
        (["longembed", "--task", "passkey", "--lengths", "many"], "256,1024"),
        (["evidence", "--data", "nowhere"], "nowhere"),
        (["needle", "--corpus", "nowhere", "--no-heatmap"], "no corpus here"),
        (["table", "--task", "qmsum"], "--data"),
        (["table", "--task", "passkey", "--method", "pcw/best"], "pcw/best"),
    ],
)
def test_mistakes_get_a_line(words: list[str], message: str) -> None:
    result = run(*words)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of one document of 300 words."""
    folder = tmp_path_factory.mktemp("own")
    text = " ".join(f"This is sentence number {n} of a report." for n in range(40))
    with Corpus(folder) as corpus:
        corpus.add_text(text, name="report")
    return folder


def test_needles_in_own_documents(own: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "needle.png"
    before = (own / "corpus.sqlite").read_bytes()
    report = as_json(
        *["needle", "--corpus", own, "--lengths", "64,128", "--each", "1", "--depths", "0,100"],
        *["--extension", "none", "--ranking", "bm25", "--ranking", "dense"],
        *["--heatmap", picture],
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert report["lengths"] == [64, 128]
    assert report["recommended"] == {"extension": "none", "retriever": "bm25"}
    assert report["methods"][0]["found"] == [[1.0, 1.0], [1.0, 1.0]]
    assert report["queries"] == 4
    assert (own / "corpus.sqlite").read_bytes() == before
    assert not (tmp_path / "cache" / "evaluation").exists()


def test_needles_are_planted_at_their_depths() -> None:
    text = " ".join(f"Here is sentence {n}." for n in range(500))
    grid = needle.Grid(lengths=(256, 1024), depths=(0.0, 0.5, 1.0), each=2)
    tasks = needle.plant_needles([text, "too short"], grid)
    hidden = {fact.sentence for fact in facts()}
    assert list(tasks) == [256, 1024]
    for length, task in tasks.items():
        assert {len(one.text.split()) for one in task.documents} == {length * 3 // 4}
        for query, depth in zip(task.queries, (0, 0, 0.5, 0.5, 1, 1), strict=True):
            lines = task.documents[query.gold].text.split("\n")
            (at,) = (n for n, line in enumerate(lines) if line in hidden)
            before = sum(len(line) for line in lines[:at])
            assert before / len("".join(lines)) == pytest.approx(depth, abs=0.1)
    assert tasks[256] == needle.plant_needles([text], grid)[256]


def test_bm25_is_compared_once() -> None:
    pairs = needle.combine_methods(["pcw", "gp"], ["bm25", "dense"])
    assert pairs == [("pcw", "bm25"), ("pcw", "dense"), ("gp", "dense")]


def test_a_table_goes_into_its_section(meetings_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text("# Benchmarks\n\nBefore.\n")
    words = ["table", "--data", meetings_file, "--task", "qmsum", "--task", "evidence"]
    words += ["--method", "none:32/bm25", "--method", "ntk/dense", "--out", page]
    assert run(*words).exit_code == 0
    once = page.read_text()
    page.write_text(once + "\nAfter.\n")
    assert run(*words).exit_code == 0
    assert page.read_text() == once + "\nAfter.\n"
    assert "| none:32/bm25 | 100.0 " in once
    assert re.search(r"^\| ntk/dense +\| - ", once, re.MULTILINE)
    assert "`rag-app evaluate table --data two.jsonl --task qmsum" in once


def test_a_method_by_name() -> None:
    method = table.parse("none:256/dense", EncoderSettings())
    assert (method.encoder.extension, method.encoder.max_length) == ("none", 256)
    assert method.ranking == "dense"
    assert table.parse("ntk+entropy:1024/dense", EncoderSettings()).encoder.extension == (
        "ntk+entropy"
    )


def test_qmsum_as_it_lies_on_the_hub(tmp_path: Path) -> None:
    rows: dict[str, dict[str, str]] = {
        "corpus": {"doc_id": "d", "text": "A: We agreed."},
        "queries": {"qid": "q", "text": "They agreed."},
        "qrels": {"qid": "q", "doc_id": "d"},
    }
    for file, row in rows.items():
        (tmp_path / f"{file}.jsonl").write_text(json.dumps(row), "utf-8")
    (task,) = longembed.build("qmsum", longembed.Source(data=tmp_path)).values()
    assert [document.text for document in task.documents] == ["A: We agreed."]
    assert [(query.text, query.gold) for query in task.queries] == [("They agreed.", 0)]


def test_all_six_tasks_beside_what_is_published(meetings_file: Path, tmp_path: Path) -> None:
    """The files of the hub, a folder a task, as they lie there."""
    for name in ("narrativeqa", "summ_screen_fd", "2wikimqa"):
        rows = {
            "corpus": [
                {"doc_id": f"d{n}", "text": f"{name} {word}."} for n, word in enumerate("ab")
            ],
            "queries": [{"qid": "q", "text": f"What of {name} b?"}],
            "qrels": [{"qid": "q", "doc_id": "d1"}],
        }
        (tmp_path / name).mkdir()
        for file, objects in rows.items():
            text = "\n".join(json.dumps(each) for each in objects)
            (tmp_path / name / f"{file}.jsonl").write_text(text, "utf-8")
    (tmp_path / "qmsum").mkdir()
    (tmp_path / "qmsum" / "two.jsonl").write_bytes(meetings_file.read_bytes())
    words = ["--longembed", "--data", tmp_path, "--lengths", "64", "--documents", "10"]
    result = run("table", *words, "--method", "none:32/bm25")
    assert result.exit_code == 0, result.output
    overview, *_ = result.stdout.split("NanoLongEmbed")  # tables by length follow
    found = [line.strip("| ").split(" | ") for line in overview.splitlines()]
    by_name = {cells[0].strip(): [each.strip() for each in cells[1:]] for cells in found}
    assert by_name["none:32/bm25"] == ["100.0"] * 7
    assert by_name["E5-Mistral 7B + NTK 32k (published)"][-1] == "75.3"
    assert by_name["BM25 (bm25s, stemmed) (published)"][:2] == ["100.0", "93.3"]
    assert "mLateOn 80.1" in result.stdout
