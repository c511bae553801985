"""A collection follows its folders: files that come, change, move and go, and folders that do."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from rag_app.corpus import folder_watch
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.folder_watch import FolderEvent, FolderWatch
from tests.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "mast.txt").write_text("The mast fell on Monday.")
    return tmp_path / "in"


class Running(threading.Thread):
    """A watch in a thread of its own, which ends with the block."""

    def __init__(self, watch: FolderWatch) -> None:
        super().__init__()
        self.watch, self.events = watch, list[FolderEvent]()
        self.stop = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            for event in self.watch.events(stop=self.stop):
                self.events.append(event)
        except Exception as error:
            self.failure = error

    def until(self, kind: str, name: str) -> None:
        """Wait until this has happened to a file or folder of this name."""

        def happened() -> bool:
            assert self.failure is None, self.failure
            return any((each.kind, Path(each.path).name) == (kind, name) for each in self.events)

        wait_until(happened)

    def __enter__(self) -> Running:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.join()


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        yield corpus


@pytest.fixture
def other(corpus: Corpus, encoder: Encoder) -> Iterator[Corpus]:
    """The same corpus, as another process has it."""
    with Corpus(corpus.folder, encoder=encoder) as other:
        yield other


def titles(corpus: Corpus) -> set[str]:
    return {each.title for each in corpus.documents()} if corpus.exists else set()


@pytest.mark.parametrize("poll", [None, 0.1])
def test_what_happens_in_a_folder_happens_in_the_corpus(
    poll: float | None, folder: Path, corpus: Corpus, other: Corpus
) -> None:
    with Running(FolderWatch(corpus, [folder], settle=0, poll=poll)) as watch:
        watch.until("added", "mast.txt")
        assert other.search("What fell?")[0].title == "mast"
        (folder / ".hidden.txt").write_text("The hidden word.")
        (folder / "picture.png").write_bytes(b"\x89PNG")
        (folder / "broken.pdf").write_bytes(b"no PDF")
        (folder / "new").mkdir()
        (folder / "new" / "keel.md").write_text("# Keel\n\nThe keel is of oak.")
        watch.until("added", "keel.md")
        watch.until("failed", "broken.pdf")
        assert titles(other) == {"mast", "Keel"}
        (folder / "mast.txt").write_text("The mast stood until Friday.")
        watch.until("updated", "mast.txt")
        assert "Friday" in other.ask("Until when did the mast stand?").text
        (folder / "mast.txt").rename(folder / "new" / "pole.txt")
        watch.until("moved", "pole.txt")
        shutil.rmtree(folder / "new")
        watch.until("removed", "pole.txt")
        watch.until("removed", "keel.md")
        assert titles(other) == set()
    assert [each.kind for each in watch.events].count("failed") == 1
    assert not any("hidden" in each.path or "picture" in each.path for each in watch.events)


def test_of_two_changes_within_a_second_none_is_missed_by_looking(
    folder: Path, corpus: Corpus
) -> None:
    second = 1_700_000_000 * 10**9
    os.utime(folder / "mast.txt", ns=(second, second))
    with Running(FolderWatch(corpus, [folder], settle=0, poll=0.1)) as watch:
        watch.until("added", "mast.txt")
        (folder / "next.txt").write_text("The mast stood until Friday.")
        os.utime(folder / "next.txt", ns=(second, second + 1))
        (folder / "next.txt").rename(folder / "mast.txt")
        watch.until("updated", "mast.txt")


def test_another_process_that_writes_is_waited_for(
    folder: Path, corpus: Corpus, other: Corpus
) -> None:
    with Running(FolderWatch(corpus, [folder], collection="boats", settle=0)) as watch:
        watch.until("added", "mast.txt")
        with other.writing():
            (folder / "keel.txt").write_text("The keel is of oak.")
            watch.until("waiting", "corpus")
        watch.until("added", "keel.txt")
    assert [each.collections for each in corpus.documents()] == [("boats",), ("boats",)]


def test_a_folder_that_is_gone_keeps_its_documents_until_it_is_back(
    folder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    (folder / "keel.txt").write_text("The keel is of oak.")
    with Running(FolderWatch(corpus, [folder], settle=0)) as watch:
        watch.until("added", "keel.txt")
        folder.rename(tmp_path / "away")
        watch.until("gone", "in")
        assert titles(corpus) == {"mast", "keel"}
        folder.mkdir()
        (folder / "keel.txt").write_text("The keel is of oak.")
        watch.until("back", "in")
        watch.until("removed", "mast.txt")
        (folder / "sail.txt").write_text("The sail is red.")
        watch.until("added", "sail.txt")
    assert titles(corpus) == {"keel", "sail"}


def test_a_file_is_complete_when_it_has_not_changed_for_long_enough(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(folder_watch, "monotonic", lambda: now[0])
    watch = FolderWatch(Corpus(tmp_path / "corpus"), [folder], settle=2)
    path = folder / "mast.txt"
    watch._note([path])
    for time, grows, complete in ((1.9, True, False), (3.8, False, False), (3.9, False, True)):
        now[0] = time
        if grows:
            path.write_text(path.read_text() + " And more.")
        assert watch._complete() == ({path} if complete else set())


def test_a_drive_that_is_away_is_no_empty_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = [True]
    is_mount = os.path.ismount

    def is_drive(path: Path) -> bool:
        return mounted[0] if path == folder else is_mount(path)

    monkeypatch.setattr(os.path, "ismount", is_drive)
    watch = FolderWatch(Corpus(tmp_path / "corpus"), [folder])
    assert watch._is_here(folder)
    mounted[0] = False
    assert not watch._is_here(folder)


def test_only_folders_are_watched(folder: Path, tmp_path: Path) -> None:
    for path, reason in ((folder / "mast.txt", "is no folder"), (folder / "x", "does not exist")):
        with pytest.raises(InvalidRequest, match=reason):
            FolderWatch(Corpus(tmp_path / "corpus"), [path])
