"""A disk that hangs holds up whoever writes to it, and nobody who looks at a page.

Nothing is timed: what must not wait for the disk has to come while the disk hangs for good.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from indexing.encoder.encoder import Encoder
from indexing.filter import OWNER
from rag_app.chat.application import Application
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import ConversationStore, login_key
from rag_app.chat.queues.answer_jobs import AnswerJobs
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.queues.question_queue import QuestionQueue
from rag_app.chat.uploads import Uploads
from rag_app.chat.web.server import ServerOptions, build_application, protect
from rag_app.chat.welcome import samples
from rag_app.corpus.corpus import Corpus
from tests.waiting import PATIENCE, wait_until

T = TypeVar("T")


class Disk:
    """A disk that hangs, once it is told to, at the writes of some files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = ""  # of files that hang, or of what their paths hold
        self.waiting = threading.Event()
        self.waits = 0
        self.goes_on = threading.Event()
        replaced, synced = Path.replace, os.fsync

        def replace(path: Path, target: Path) -> Path:
            self._hang(str(target))
            return replaced(path, target)

        def fsync(descriptor: int) -> None:
            self._hang(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            synced(descriptor)

        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(os, "fsync", fsync)

    def _hang(self, path: str) -> None:
        if self.name and self.name in path:
            self.waits += 1
            self.waiting.set()
            assert self.goes_on.wait(PATIENCE)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk = Disk(monkeypatch)
    yield disk
    disk.goes_on.set()


@pytest.fixture
def pool(disk: Disk) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool
        disk.goes_on.set()


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("The heron stands in the reeds.", name="heron")
        yield corpus


def now(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """What comes of work that must not wait for the disk."""
    return pool.submit(work).result(PATIENCE)


def test_a_conversation_that_is_being_saved_holds_up_no_other(
    corpus: Corpus, tmp_path: Path, disk: Disk, pool: ThreadPoolExecutor
) -> None:
    store = ConversationStore(tmp_path / "chats")
    jobs = AnswerJobs(QuestionQueue(corpus), store)
    ann, bob = Conversation.new(), Conversation.new()
    store.save(login_key("bob"), bob)
    disk.name = ann.id
    saving = pool.submit(jobs.start, login_key("ann"), ann, Exchange("Where is the heron?"), OWNER)
    assert disk.waiting.wait(PATIENCE)
    asked = now(
        pool, lambda: jobs.start(login_key("bob"), bob, Exchange("Where is the heron?"), OWNER)
    )
    wait_until(lambda: now(pool, lambda: jobs.of(bob)) is None)
    assert asked.exchange.state in {"done", "failed"}
    renamed = now(pool, lambda: jobs.update(login_key("bob"), bob.id, lambda x: x.named("Reeds")))
    assert renamed.title == "Reeds" and not saving.done()
    assert now(pool, lambda: jobs.of(ann)) is not None
    disk.goes_on.set()
    saving.result(PATIENCE)
    wait_until(lambda: jobs.of(ann) is None)
    saved = store.get(login_key("ann"), ann.id)
    assert saved is not None and saved.exchanges[0].over


def test_an_upload_that_is_being_saved_holds_up_no_list(
    corpus: Corpus, tmp_path: Path, disk: Disk, pool: ThreadPoolExecutor
) -> None:
    uploads = Uploads(tmp_path / "uploads", max_bytes=1 << 20)
    queue = IngestQueue(corpus, uploads)
    saving: list[Future[object]] = []

    async def content() -> AsyncIterator[bytes]:
        yield b"An egret stands."

    received = asyncio.run(uploads.receive("a.txt", content()))
    disk.name = ".new"
    saving.append(pool.submit(queue.add, received))
    assert disk.waiting.wait(PATIENCE)
    assert now(pool, lambda: queue.of("ann")) == () and now(pool, lambda: queue.uploads) == ()
    assert now(pool, queue.is_busy) is False and not saving[0].done()
    disk.goes_on.set()
    saving[0].result(PATIENCE)
    wait_until(lambda: not queue.is_busy())
    assert [each.stage for each in queue.uploads] == ["added"]
    queue.close()


@pytest.mark.parametrize("hangs_at", ["ID.new", "a.txt"])  # its record; its place
def test_an_upload_that_is_being_saved_or_placed_holds_up_no_other(
    corpus: Corpus, tmp_path: Path, disk: Disk, pool: ThreadPoolExecutor, hangs_at: str
) -> None:
    uploads = Uploads(tmp_path / "uploads", max_bytes=1 << 20)
    queue = IngestQueue(corpus, uploads)

    async def content() -> AsyncIterator[bytes]:
        yield b"An egret stands."

    first, second, third = (
        asyncio.run(uploads.receive(name, content())) for name in ("a.txt", "b.txt", "a.txt")
    )
    disk.name = hangs_at.replace("ID", first.content.stem)
    saving = pool.submit(queue.add, first)
    assert disk.waiting.wait(PATIENCE)
    added = now(pool, lambda: queue.add(second))
    assert now(pool, lambda: queue.add(third)).stage == "exists"
    now(pool, lambda: queue.cancel(added.id))
    disk.goes_on.set()
    saving.result(PATIENCE)
    wait_until(lambda: not queue.is_busy())
    stages = {each.id: each.stage for each in queue.uploads}
    assert stages[first.content.stem] == "added" and stages[third.content.stem] == "exists"
    if hangs_at == "a.txt":  # nothing else was begun meanwhile
        assert stages[added.id] == "cancelled"
    queue.close()


@pytest.mark.parametrize("hangs_at", [".part", ".new"])  # its content, and its record
def test_an_upload_leaves_the_event_loop_to_others(
    corpus: Corpus,
    tmp_path: Path,
    disk: Disk,
    monkeypatch: pytest.MonkeyPatch,
    hangs_at: str,
) -> None:
    monkeypatch.setattr(samples, "FILES", samples.FILES[2:3])  # one is enough
    uploads = Uploads(tmp_path / "uploads", max_bytes=1 << 20)
    queue = IngestQueue(corpus, uploads)
    disk.name = hangs_at

    async def meanwhile() -> None:
        adding = asyncio.ensure_future(samples.add_samples(uploads, queue, None))
        while not disk.waiting.is_set():
            await asyncio.sleep(0)
        for _ in range(100):  # the loop turns while the disk hangs
            await asyncio.sleep(0)
        assert not adding.done()
        disk.goes_on.set()
        assert await adding == 1

    asyncio.run(asyncio.wait_for(meanwhile(), PATIENCE))
    wait_until(lambda: not queue.is_busy())
    assert [each.stage for each in queue.uploads] == ["added"]
    queue.close()


def test_pages_come_while_more_uploads_wait_than_there_are_threads_for_pages(
    corpus: Corpus, disk: Disk
) -> None:
    options = ServerOptions()
    app = Application(corpus)
    web = protect(build_application(app, options), options)
    (document,) = corpus.documents()
    threads = min(32, (os.cpu_count() or 1) + 4)  # those of an event loop
    disk.name = ".part"

    async def visit() -> None:
        transport = httpx.ASGITransport(web)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE
        ) as client:
            names = [f"{number}.txt" for number in range(threads)]
            sending = [
                asyncio.ensure_future(client.post("/files", headers={"x-name": each}, content="x"))
                for each in names
            ]
            try:
                while disk.waits < threads:
                    await asyncio.sleep(0.01)
                for path in ("/", "/changes", f"/documents/{document.id}/view"):
                    page = await asyncio.wait_for(client.get(path), PATIENCE)
                    assert page.status_code == 200, path
                assert not any(each.done() for each in sending)
            finally:
                disk.goes_on.set()
            assert {(await each).status_code for each in sending} == {201}

    asyncio.run(visit())
    wait_until(lambda: not app.ingest_queue.is_busy())
    app.ingest_queue.close()
    app.suggestions.close()
    app.viewer.close()
