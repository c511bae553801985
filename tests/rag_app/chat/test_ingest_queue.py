"""Files on their way in: each has its own end, and questions go on meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import filelock
import pytest
from fpdf import FPDF

from indexing.encoder.encoder import Encoder
from indexing.limits import FileLimits
from rag_app.chat.ingest_queue import IngestQueue, UploadStatus
from rag_app.corpus.corpus import Corpus
from tests.waiting import wait_until


def wait(queue: IngestQueue) -> dict[str, UploadStatus]:
    wait_until(lambda: not queue.busy)
    return {each.name: each for each in queue.uploads}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Corpus:
    return Corpus(tmp_path / "corpus", encoder=encoder, limits=FileLimits(bytes=100_000))


def write(folder: Path, **texts: str) -> list[tuple[str, Path]]:
    files = []
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        files.append((path.name, path))
    return files


def test_each_file_has_its_own_end(tmp_path: Path, corpus: Corpus) -> None:
    queue = IngestQueue(corpus)
    files = write(tmp_path, a="A heron stands.", b="A heron stands.", c="", d="x" * 100_001)
    (tmp_path / "e.pdf").write_bytes(b"%PDF-1.4 broken")
    queue.add([*files, ("e.pdf", tmp_path / "e.pdf")])
    statuses = wait(queue)
    assert {name: each.stage for name, each in statuses.items()} == {
        "a.txt": "added",
        "b.txt": "duplicate",
        "c.txt": "failed",
        "d.txt": "failed",
        "e.pdf": "failed",
    }
    assert "is empty" in statuses["c.txt"].note and "split it" in statuses["d.txt"].note
    assert len(corpus.documents()) == 1


def test_what_was_not_read_of_a_file_is_said(tmp_path: Path, corpus: Corpus) -> None:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    pdf.add_page()
    pdf.text(20, 20, "A heron stands.")
    pdf.add_page()
    pdf.rect(10, 10, 50, 50)
    pdf.output(str(tmp_path / "a.pdf"))
    queue = IngestQueue(corpus)
    queue.add([("a.pdf", tmp_path / "a.pdf")])
    status = wait(queue)["a.pdf"]
    assert status.stage == "added"
    assert status.note.startswith("pictures without text on page 2 of 2; recognise their text (ocr")


def test_again_and_changed(tmp_path: Path, corpus: Corpus) -> None:
    queue = IngestQueue(corpus)
    queue.add(write(tmp_path, a="A heron stands."))
    assert wait(queue)["a.txt"].stage == "added"
    queue.add(write(tmp_path, a="A heron stands."))
    assert wait(queue)["a.txt"].stage == "unchanged"
    queue.add(write(tmp_path, a="Two herons stand here."))
    assert wait(queue)["a.txt"].stage == "updated"
    queue.clear()
    assert queue.uploads == ()


def test_a_question_is_answered_while_files_are_read(tmp_path: Path, corpus: Corpus) -> None:
    corpus.add(path for _, path in write(tmp_path, first="The heron stands in the reeds."))
    queue = IngestQueue(corpus)
    queue.add(write(tmp_path, long=" ".join(f"Sentence number {n} is." for n in range(2_500))))
    wait_until(lambda: any(each.share for each in queue.uploads))
    answer = corpus.ask("Where does the heron stand?")
    (status,) = queue.uploads
    assert "reeds" in answer.text and status.stage == "reading" and 0 < status.share < 1
    wait(queue)


def test_the_queue_waits_for_another_writer(tmp_path: Path, corpus: Corpus) -> None:
    corpus.add_text("A heron stands.", name="a")
    queue = IngestQueue(corpus)
    lock = filelock.FileLock(corpus.folder / "write.lock")
    with lock:
        queue.add(write(tmp_path, b="An egret stands."))
        time.sleep(0.3)
        assert queue.busy
    assert wait(queue)["b.txt"].stage == "added"


def test_whatever_goes_wrong_is_said(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("surprise")

    queue = IngestQueue(corpus)
    with monkeypatch.context() as patched:
        patched.setattr(corpus, "add", fail)
        queue.add(write(tmp_path, a="A heron stands."))
        assert "surprise" in wait(queue)["a.txt"].note
    queue.add(write(tmp_path, a="A heron stands."))
    assert wait(queue)["a.txt"].stage == "added"
    assert not [each for each in threading.enumerate() if each.name == "ingest" and each.is_alive()]
