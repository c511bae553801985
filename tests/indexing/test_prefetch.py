"""Files are read while others are encoded: in order, a few ahead, no longer than anybody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from indexing.documents import Document, Passage
from indexing.encoder.encoded_document import EncodedDocument
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.files import FileReader
from indexing.indexer import Indexer
from indexing.loaders.process import PageProgress, Readings
from indexing.prefetch import OnCaller, Prefetch
from indexing.store.store import Store
from indexing.walk import Failure
from tests.waiting import wait_until


def nothing(thread: threading.Thread) -> None:
    """There is nothing to break off."""


def test_no_further_ahead_than_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexing.prefetch.FILES", 2)
    monkeypatch.setattr("indexing.prefetch.CHARACTERS", 10)
    begun: list[str] = []

    def read(item: str, on_caller: OnCaller) -> str:
        begun.append(item)
        return item

    def have_begun(many: int) -> bool:
        return len(begun) >= many

    def check(items: Sequence[str], ahead: Sequence[int]) -> None:
        """They come in order, and so many are begun before each is taken."""
        begun.clear()
        with Prefetch(items, read, size=len, interrupt=nothing) as contents:
            for item, many in zip(items, ahead, strict=True):
                wait_until(partial(have_begun, many))
                assert len(begun) == many and next(contents) == item

    check(["a", "b", "c", "d", "e"], [2, 3, 4, 5, 5])
    check(["x" * 10, "y" * 9, "z"], [1, 3, 3])


def test_what_it_asks_for_is_done_where_its_files_are_waited_for() -> None:
    def read(item: int, on_caller: OnCaller) -> object:
        if item == 2:
            raise ValueError("no third")
        return on_caller(threading.current_thread)

    with (
        pytest.raises(ValueError, match="no third"),
        Prefetch([0, 1, 2, 3], read, size=lambda _: 1, interrupt=nothing) as contents,
    ):
        assert next(contents) is next(contents) is threading.current_thread()
        next(contents)

    def interrupted() -> None:
        raise KeyboardInterrupt

    def read_interrupted(item: int, on_caller: OnCaller) -> str:
        on_caller(interrupted)
        raise AssertionError("nobody waits any more")

    with (
        pytest.raises(KeyboardInterrupt),
        Prefetch([0], read_interrupted, size=len, interrupt=nothing) as none,
    ):
        next(none)


class Noted(FileReader):
    """Notes what it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def read(
        self,
        path: Path,
        *,
        readings: Readings | None = None,
        progress: PageProgress | None = None,
        growing: bool = False,
    ) -> list[Document | Failure]:
        self.names.append(path.name)
        return super().read(path, readings=readings, progress=progress, growing=growing)


@dataclass
class Until:
    """An encoder, and what happens before each document."""

    encoder: Encoder
    before: Callable[[], None]

    @property
    def fingerprint(self) -> Fingerprint:
        return self.encoder.fingerprint

    @fingerprint.setter
    def fingerprint(self, other: Fingerprint) -> None:
        raise AssertionError(other)

    def encode(
        self,
        documents: Sequence[tuple[Document, Sequence[Passage]]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        self.before()
        return self.encoder.encode(documents, progress=progress)


def test_the_next_files_are_read_while_one_is_encoded_until_ctrl_c(
    tmp_path: Path, encoder: Encoder
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name in "abcd":
        (files / f"{name}.txt").write_text(f"The lake of {name} is deep.")
    store = Store(tmp_path / "corpus", create=True)
    store.set_fingerprint(encoder.fingerprint)
    reader = Noted()
    with reader:
        all_read = Until(encoder, lambda: wait_until(lambda: len(reader.names) == 4))
        report = Indexer(store, lambda: all_read, reader=reader).add([files])
        assert len(report.added) == 4 and reader.names == [f"{name}.txt" for name in "abcd"]
        (files / "a.txt").write_text("It is frozen.")
        (files / "b.html").write_text("<b>x</b>" * 1_500_000)  # half a minute

        def interrupt() -> None:
            wait_until(lambda: reader._process._reading is not None and "b.html" in reader.names)
            raise KeyboardInterrupt

        stopped = Until(encoder, interrupt)
        with pytest.raises(KeyboardInterrupt):
            Indexer(store, lambda: stopped, reader=reader).add([files])
        assert reader._process._reading is None and reader.names[-1] == "b.html"
        assert all(thread.name != "reading-ahead" for thread in threading.enumerate())
        (files / "b.html").unlink()
        report = Indexer(store, lambda: encoder, reader=reader).add([files])
        assert (len(report.updated), report.unchanged, report.failures) == (1, 3, ())
    store.close()
