"""Files on their way in: each has its own end, and questions go on meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import filelock
import pytest
from fpdf import FPDF

from indexing.encoder.encoder import Encoder
from rag_app.chat.ingest_queue import Arrival, Intake
from rag_app.corpus.corpus import Corpus
from tests.waiting import wait_until


def settled(intake: Intake) -> dict[str, Arrival]:
    wait_until(lambda: not intake.busy)
    return {each.name: each for each in intake.arrivals}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Corpus:
    return Corpus(tmp_path / "corpus", encoder=encoder)


def written(folder: Path, **texts: str) -> list[tuple[str, Path]]:
    files = []
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        files.append((path.name, path))
    return files


def test_each_file_has_its_own_end(tmp_path: Path, corpus: Corpus) -> None:
    intake = Intake(corpus, max_bytes=10_000)
    files = written(tmp_path, a="A heron stands.", b="A heron stands.", c="", d="x" * 10_001)
    (tmp_path / "e.pdf").write_bytes(b"%PDF-1.4 broken")
    intake.add([*files, ("e.pdf", tmp_path / "e.pdf")])
    ends = settled(intake)
    assert {name: each.stage for name, each in ends.items()} == {
        "a.txt": "added",
        "b.txt": "duplicate",
        "c.txt": "failed",
        "d.txt": "failed",
        "e.pdf": "failed",
    }
    assert "is empty" in ends["c.txt"].note and "split it" in ends["d.txt"].note
    assert len(corpus.documents()) == 1


def test_what_was_not_read_of_a_file_is_said(tmp_path: Path, corpus: Corpus) -> None:
    made = FPDF()
    made.set_font("Helvetica", size=12)
    made.add_page()
    made.text(20, 20, "A heron stands.")
    made.add_page()
    made.rect(10, 10, 50, 50)
    made.output(str(tmp_path / "a.pdf"))
    intake = Intake(corpus, max_bytes=10_000)
    intake.add([("a.pdf", tmp_path / "a.pdf")])
    arrival = settled(intake)["a.pdf"]
    assert arrival.stage == "added"
    assert arrival.note.startswith(
        "pictures without text on page 2 of 2; recognise their text (ocr"
    )


def test_again_and_changed(tmp_path: Path, corpus: Corpus) -> None:
    intake = Intake(corpus, max_bytes=10_000)
    intake.add(written(tmp_path, a="A heron stands."))
    assert settled(intake)["a.txt"].stage == "added"
    intake.add(written(tmp_path, a="A heron stands."))
    assert settled(intake)["a.txt"].stage == "unchanged"
    intake.add(written(tmp_path, a="Two herons stand here."))
    assert settled(intake)["a.txt"].stage == "updated"
    intake.clear()
    assert intake.arrivals == ()


def test_a_question_is_answered_while_files_are_read(tmp_path: Path, corpus: Corpus) -> None:
    corpus.add(path for _, path in written(tmp_path, first="The heron stands in the reeds."))
    intake = Intake(corpus, max_bytes=10_000_000)
    intake.add(written(tmp_path, long=" ".join(f"Sentence number {n} is." for n in range(2_500))))
    wait_until(lambda: any(each.share for each in intake.arrivals))
    answer = corpus.ask("Where does the heron stand?")
    (arrival,) = intake.arrivals
    assert "reeds" in answer.text and arrival.stage == "reading" and 0 < arrival.share < 1
    settled(intake)


def test_another_writer_is_waited_for(tmp_path: Path, corpus: Corpus) -> None:
    corpus.add_text("A heron stands.", name="a")
    intake = Intake(corpus, max_bytes=10_000)
    lock = filelock.FileLock(corpus.folder / "write.lock")
    with lock:
        intake.add(written(tmp_path, b="An egret stands."))
        time.sleep(0.3)
        assert intake.busy
    assert settled(intake)["b.txt"].stage == "added"


def test_whatever_goes_wrong_is_said(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("surprise")

    intake = Intake(corpus, max_bytes=10_000)
    with monkeypatch.context() as patched:
        patched.setattr(corpus, "add", fail)
        intake.add(written(tmp_path, a="A heron stands."))
        assert "surprise" in settled(intake)["a.txt"].note
    intake.add(written(tmp_path, a="A heron stands."))
    assert settled(intake)["a.txt"].stage == "added"
    assert not [each for each in threading.enumerate() if each.name == "intake" and each.is_alive()]
