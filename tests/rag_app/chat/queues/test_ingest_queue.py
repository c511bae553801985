"""Files on their way in: each has its own end, questions go on meanwhile, and no kill loses one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import filelock
import pytest
from fpdf import FPDF

from indexing.encoder.encoder import Encoder
from indexing.error_log import LOG_NAME
from indexing.ocr.reading import OcrSettings
from rag_app.chat.document_list import DocumentList
from rag_app.chat.language.current import speaking, usual
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import html as view
from rag_app.chat.queues import ingest_queue
from rag_app.chat.queues.batch import BATCH_BYTES
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.upload_records import UploadStatus
from rag_app.chat.uploads import Uploads
from rag_app.chat.viewer.viewer import Viewer
from rag_app.corpus.corpus import Corpus
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[4]
SENTENCES = " ".join(f"Sentence number {n} is." for n in range(2_500))


def wait(queue: IngestQueue) -> dict[str, UploadStatus]:
    wait_until(lambda: not queue.is_busy())
    return {each.name: each for each in queue.uploads}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder, ocr=OcrSettings("off")) as corpus:
        yield corpus


def make_queue(corpus: Corpus, *, max_bytes: int = 10_000_000) -> IngestQueue:
    return IngestQueue(corpus, Uploads(corpus.folder / "uploads", max_bytes=max_bytes))


def close(queue: IngestQueue) -> None:
    queue.close()
    wait_until(lambda: queue._worker is None)


def send(queue: IngestQueue, name: str, content: str | bytes) -> UploadStatus:
    async def stream() -> AsyncIterator[bytes]:
        yield content.encode() if isinstance(content, str) else content

    return queue.add(asyncio.run(queue._files.receive(name, stream())))


def test_each_file_has_its_own_end(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    texts = {"a.txt": "A heron stands.", "b.txt": "A heron stands.", "c.txt": ""}
    for name, text in texts.items():
        send(queue, name, text)
    send(queue, "e.pdf", b"%PDF-1.4 broken")
    statuses = wait(queue)
    assert {name: each.stage for name, each in statuses.items()} == {
        "a.txt": "added",
        "b.txt": "duplicate",
        "c.txt": "failed",
        "e.pdf": "failed",
    }
    assert "is empty" in statuses["c.txt"].note
    with speaking(usual("de")):
        assert translated(statuses["c.txt"].note).startswith("ist leer; entfernen")
        assert translated(statuses["b.txt"].note).startswith("hat denselben Inhalt wie a.txt")
    assert len(corpus.documents()) == 1
    queue.clear()
    close(queue)
    assert queue.uploads == () and make_queue(corpus)._records.adopt() == []
    files = [path.name for path in (corpus.folder / "uploads").iterdir() if path.is_file()]
    assert files == ["a.txt"]  # copies that nobody needs are gone


def test_what_was_not_read_of_a_file_is_said(tmp_path: Path, corpus: Corpus) -> None:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    pdf.add_page()
    pdf.text(20, 20, "A heron stands.")
    pdf.add_page()
    pdf.rect(10, 10, 50, 50)
    pdf.output(str(tmp_path / "a.pdf"))
    queue = make_queue(corpus)
    send(queue, "a.pdf", (tmp_path / "a.pdf").read_bytes())
    status = wait(queue)["a.pdf"]
    assert status.stage == "added"
    assert status.note.startswith("pictures without text on page 2 of 2; allow it with --ocr auto")


CALL = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>The owl flies.\n"
SOUND = b"RIFF\0\0\0\0WAVEfmt "


def test_a_recording_stays_beside_its_transcript_and_goes_with_it(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    folder = corpus.folder / "uploads"
    send(queue, "week 1/call.WAV", SOUND)  # before its transcript
    assert "speech in it is not recognised" in wait(queue)["week 1/call.wav"].note
    send(queue, "week 1/call.vtt", CALL)
    send(queue, "week 1/lake.txt", "A heron stands.")
    send(queue, "week 1/lake.wav", SOUND)
    send(queue, "week 1/call.mp4", b"\0\0\0\x14ftypisom")
    statuses = wait(queue)
    assert {name.removeprefix("week 1/"): each.stage for name, each in statuses.items()} == {
        "call.vtt": "added",
        "call.wav": "added",
        "call.mp4": "failed",
        "lake.txt": "added",
        "lake.wav": "failed",
    }
    assert statuses["week 1/call.wav"].note == "plays beside call.vtt"
    assert "has another recording, call.wav" in statuses["week 1/call.mp4"].note
    assert send(queue, "week 1/call.wav", SOUND + b"longer").stage == "exists"
    queue.cancel(next(each.id for each in queue.uploads if each.stage == "exists"))

    queue.clear()
    kept = sorted(path.name for path in (folder / "week 1").iterdir())
    assert kept == ["call.vtt", "call.wav", "lake.txt", "lake.wav"]
    viewer, listed = Viewer(corpus), DocumentList(corpus, queue._files)
    (call,) = [each for each in corpus.documents() if each.path.endswith("call.vtt")]
    (lake,) = [each for each in corpus.documents() if each.path.endswith("lake.txt")]
    found = viewer.recording(call.id, None)
    viewer.close()
    assert found is not None and found.path == folder / "week 1" / "call.wav"
    listed.remove(call.id, None)
    listed.remove(lake.id, None)
    assert not list((folder / "week 1").iterdir())
    close(queue)


def test_the_same_file_again_asks_nothing(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    send(queue, "a.txt", "A heron stands.")
    assert wait(queue)["a.txt"].stage == "added"
    send(queue, "a.txt", "A heron stands.")
    assert wait(queue)["a.txt"].stage == "unchanged"


def test_another_file_of_the_name_replaces_nothing_in_silence(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    send(queue, "a.txt", "A heron stands.")
    wait(queue)
    second = send(queue, "a.txt", "Two egrets stand here.")
    assert second.stage == "exists" and not queue.is_busy()
    assert "Keep both" in view.uploads(queue.uploads)
    (document,) = corpus.documents()
    assert corpus.document(document.id).text == "A heron stands."

    queue.keep_both(second.id)
    assert wait(queue)["a (2).txt"].stage == "added"
    third = send(queue, "a.txt", "Three cranes stand here.")
    queue.replace(third.id)
    assert wait(queue)["a.txt"].stage == "updated"
    texts = {corpus.document(each.id).text for each in corpus.documents()}
    assert texts == {"Two egrets stand here.", "Three cranes stand here."}


def test_two_of_a_name_at_once_are_both_kept(corpus: Corpus) -> None:
    """While the first still waits, the second has to ask, too."""
    queue = make_queue(corpus)
    corpus.add_text("An ibis.", name="ibis")
    with filelock.FileLock(corpus.folder / "write.lock"):
        send(queue, "a.txt", "A heron stands.")
        second = send(queue, "a.txt", "Two egrets stand here.")
        assert second.stage == "exists"
        queue.keep_both(second.id)
    assert {name: each.stage for name, each in wait(queue).items()} == {
        "a.txt": "added",
        "a (2).txt": "added",
    }


def test_a_failed_file_is_replaced_without_a_question_and_can_be_tried_again(
    corpus: Corpus,
) -> None:
    queue = make_queue(corpus)
    first = send(queue, "a.txt", "")
    assert wait(queue)["a.txt"].stage == "failed"
    queue.retry(first.id)
    assert wait(queue)["a.txt"].stage == "failed"
    assert send(queue, "a.txt", "A heron stands.").stage == "waiting"
    assert wait(queue)["a.txt"].stage == "added"


def test_what_waits_can_be_cancelled_and_taken_up_again(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    corpus.add_text("An ibis.", name="ibis")
    with filelock.FileLock(corpus.folder / "write.lock"):
        send(queue, "a.txt", "A heron stands.")
        wait_until(lambda: not queue._records.content(queue.uploads[0].id).exists())
        second = send(queue, "b.txt", "An egret stands.")
        queue.cancel(second.id)
    statuses = wait(queue)
    assert (statuses["a.txt"].stage, statuses["b.txt"].stage) == ("added", "cancelled")
    assert len(corpus.documents()) == 2
    queue.retry(second.id)
    assert wait(queue)["b.txt"].stage == "added"


def test_what_is_being_read_can_be_cancelled(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    long = send(queue, "long.txt", f"{SENTENCES} " * 8)
    send(queue, "short.txt", "A heron stands.")
    wait_until(lambda: queue.uploads[0].stage == "reading")
    queue.cancel(long.id)
    statuses = wait(queue)
    assert (statuses["long.txt"].stage, statuses["short.txt"].stage) == ("cancelled", "added")
    assert [each.title for each in corpus.documents()] == ["short"]
    queue.clear()
    assert not (corpus.folder / "uploads" / "long.txt").exists()


def test_a_question_is_answered_while_files_are_read(corpus: Corpus) -> None:
    corpus.add_text("The heron stands in the reeds.", name="first")
    queue = make_queue(corpus)
    send(queue, "long.txt", SENTENCES)
    wait_until(lambda: any(each.share for each in queue.uploads))
    answer = corpus.ask("Where does the heron stand?")
    (status,) = queue.uploads
    assert "reeds" in answer.text and status.stage == "reading" and 0 < status.share < 1
    assert status.seconds_left is not None and status.seconds_left > 0
    wait(queue)


@pytest.mark.parametrize(
    ("seconds", "said"), [(4, ""), (40, "40 s left"), (200, "3 min left"), (9000, "2.5 h left")]
)
def test_the_time_left_is_said(seconds: float, said: str) -> None:
    page = view.uploads([UploadStatus("1", "a.txt", "reading", 0.5, seconds_left=seconds)])
    assert "50%" in page and ("left" in page) == bool(said) and said in page


def test_the_queue_waits_for_another_writer(corpus: Corpus) -> None:
    corpus.add_text("A heron stands.", name="a")
    queue = make_queue(corpus)
    lock = filelock.FileLock(corpus.folder / "write.lock")
    with lock:
        send(queue, "b.txt", "An egret stands.")
        wait_until(lambda: not queue._records.content(queue.uploads[0].id).exists())
        assert queue.is_busy()
    assert wait(queue)["b.txt"].stage == "added"


def test_whatever_goes_wrong_is_said(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path))

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("surprise")

    queue = make_queue(corpus)
    with monkeypatch.context() as patched:
        patched.setattr(corpus, "add", fail)
        first = send(queue, "a.txt", "A heron stands.")
        note = wait(queue)["a.txt"].note
        assert "surprise" in note and note.endswith(f"details: {tmp_path / LOG_NAME}")
        assert "in fail" in (tmp_path / LOG_NAME).read_text()  # the traceback
    queue.retry(first.id)
    assert wait(queue)["a.txt"].stage == "added"
    wait_until(lambda: not any(each.name == "ingest" for each in threading.enumerate()))


KILLED = """
import asyncio, os, sys, signal, threading
from pathlib import Path
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.uploads import Uploads
from rag_app.chat.viewer.viewer import Viewer
from rag_app.corpus.corpus import Corpus

corpus = Corpus(sys.argv[1])
queue = IngestQueue(corpus, Uploads(corpus.folder / "uploads", max_bytes=10**9))
moment = sys.argv[2]

def hang(*_, **__):
    print("hangs", flush=True)
    threading.Event().wait()

async def stream(text):
    yield text.encode()

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "before it is indexed":
    corpus.add = kill
elif moment == "never":
    corpus.add = hang
elif moment == "while it is read":
    IngestQueue.advance = kill
elif moment == "once it is indexed":
    IngestQueue._report = kill
elif moment == "between record and content":
    Path.replace_ = Path.replace
    Path.replace = lambda self, to: kill() if self.suffix == ".part" else self.replace_(to)
queue.add(asyncio.run(queue._files.receive("a.txt", stream("A heron stands."))))
queue._worker.join()
"""


@pytest.mark.parametrize(
    ("moment", "stages"),
    [
        ("before it is indexed", {"a.txt": "added"}),
        ("while it is read", {"a.txt": "added"}),
        ("once it is indexed", {"a.txt": "unchanged"}),
        ("between record and content", {"a.txt": "added"}),
    ],
)
def test_a_kill_at_any_moment_loses_no_file(
    moment: str, stages: dict[str, str], tmp_path: Path
) -> None:
    with Corpus(tmp_path / "corpus") as corpus:  # with the encoder that the other process has
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(corpus.folder), moment],
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert done.returncode == -signal.SIGKILL
        queue = make_queue(corpus)
        queue.resume()
        assert {name: each.stage for name, each in wait(queue).items()} == stages
        assert [corpus.document(each.id).text for each in corpus.documents()] == ["A heron stands."]
        assert not [*queue._records.folder.glob("*.part"), *queue._records.folder.glob("*.data")]
        close(queue)
        again = make_queue(corpus)
        again.resume()  # what is over stays so, and nobody needs to be told again
        assert not again.uploads and not again.is_busy()


def test_of_two_servers_one_has_a_file_and_the_other_takes_it_when_that_one_is_killed(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_queue, "ADOPT_SECONDS", 0.05)
    corpus.add_text("An ibis.", name="ibis")
    command = [sys.executable, "-c", KILLED, str(corpus.folder), "never"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"hangs\n"
        queue = make_queue(corpus)
        queue.resume()
        assert not queue.uploads
        mine = send(queue, "a.txt", "Two egrets stand here.")
        assert mine.stage == "exists"  # as the other server has one of the name
        queue.keep_both(mine.id)
        assert wait(queue)["a (2).txt"].stage == "added"
        assert len(queue.uploads) == 1
        third = make_queue(corpus)
        third.resume()  # and a third one leaves both of them theirs
        assert not third.uploads
        close(third)
        other.kill()
    wait_until(lambda: len(queue.uploads) == 2)
    assert {name: each.stage for name, each in wait(queue).items()} == {
        "a (2).txt": "added",
        "a.txt": "added",
    }
    queue.clear()
    close(queue)
    again = make_queue(corpus)
    again.resume()
    assert again.uploads == () and [*again._records.folder.iterdir()] == []
    close(again)


def test_what_was_not_received_whole_is_deleted_with_its_server(corpus: Corpus) -> None:
    queue, other = make_queue(corpus), make_queue(corpus)
    part = queue._records.new_content()
    part.write_text("half")
    other.resume()
    assert part.exists()
    close(queue)
    other._adopt()
    assert not part.exists()
    close(other)


def test_questions_about_names_survive_too(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    send(queue, "a.txt", "A heron stands.")
    wait(queue)
    send(queue, "a.txt", "Two egrets stand here.")
    close(queue)
    other = make_queue(corpus)
    other.resume()
    assert [each.stage for each in other.uploads] == ["exists"]
    other.keep_both(other.uploads[0].id)
    assert wait(other)["a (2).txt"].stage == "added"


def test_records_of_others_are_left_alone(corpus: Corpus) -> None:
    queue = make_queue(corpus)
    folder = queue._records.folder
    folder.mkdir(parents=True)
    good = UploadStatus("3", "a.txt", "failed", note="no")
    for name, values in {
        "1": "nonsense",
        "2": json.dumps({"id": "2", "name": 7, "stage": "waiting"}),
        "4": json.dumps({"id": "4", "name": "a.txt", "stage": "dancing"}),
        "5": json.dumps({"id": "../5", "name": "a.txt", "stage": "waiting"}),
    }.items():
        (folder / f"{name}.json").write_text(values)
    queue._records.save(good)
    queue.resume()
    assert queue.uploads == (good,)


def test_small_files_are_indexed_together_and_large_ones_alone(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[str]] = []
    add = corpus.add

    def note(paths: list[Path], **options: object) -> object:
        batches.append([path.name for path in paths])
        return add(paths, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "add", note)
    queue = make_queue(corpus)
    corpus.add_text("An ibis.", name="ibis")
    with filelock.FileLock(corpus.folder / "write.lock"):
        send(queue, "0.txt", "The first.")
        wait_until(lambda: bool(batches))
        batches.clear()
        for n in (1, 2):
            send(queue, f"{n}.txt", f"Number {n}.")
        send(queue, "large.txt", "x " * BATCH_BYTES)
        queue.cancel(queue.uploads[-1].id)  # reading it is another test's
        send(queue, "3.txt", "Number 3.")
    wait(queue)
    assert batches[-1] == ["1.txt", "2.txt", "3.txt"]
