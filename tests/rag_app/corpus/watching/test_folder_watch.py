"""A collection follows its folders: files that come, change, move and go, and folders that do."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.watching import changing_files
from rag_app.corpus.watching.changing_files import ChangingFiles
from rag_app.corpus.watching.folder_watch import FolderEvent, FolderWatch
from tests.waiting import PATIENCE, wait_until


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

    def until(self, kind: str, name: str, *, times: int = 1) -> None:
        """Wait until this has happened so often to a file or folder of this name."""

        def happened() -> bool:
            assert self.failure is None, self.failure
            here = [each for each in self.events if Path(each.path).name == name]
            return sum(each.kind == kind for each in here) >= times

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
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(changing_files, "monotonic", lambda: now[0])
    changes = ChangingFiles(settle=2)
    path = folder / "mast.txt"
    changes.note(path)
    for at, grows, complete in ((1.9, True, False), (3.8, False, False), (3.9, False, True)):
        now[0] = at
        if grows:
            path.write_text(path.read_text() + " And more.")
        assert changes.complete() == ({path} if complete else set())


def test_a_transcript_is_read_while_it_is_written_for_half_of_the_time_at_most(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(changing_files, "monotonic", lambda: now[0])
    changes = ChangingFiles(settle=2)
    path = folder / "mast.txt"
    changes.note(path)
    assert (changes.complete(), changes.growing()) == (set(), {path})
    changes.were_read((), {path}, {path}, seconds=1)
    assert changes.growing() == set()  # it was read as it is
    path.write_text(path.read_text() + " And more.")
    changes.note(path)
    assert changes.growing() == set()
    now[0] = 1.0
    assert changes.growing() == {path}
    for at in range(1, 11):  # it never rests, and does not grow
        path.write_text(f"Another text, of {at}.")
        now[0] = at
        changes.note(path)
        assert changes.complete() == ({path} if at == 10 else set())
    monkeypatch.setattr(changing_files, "LONGEST", 4)
    assert changes.growing() == changes.complete() == set()


SPOKEN = "[00:00:{0:02}] Ada Park: Line number {0} is on the {1}.\n"


def test_a_transcript_that_is_written_is_found_line_by_line(
    folder: Path, corpus: Corpus, other: Corpus, encoder: Encoder
) -> None:
    """Without waiting for its end: the file never settles here."""
    path = folder / "meeting.txt"
    with Running(FolderWatch(corpus, [folder], settle=PATIENCE)) as watch:
        watch.until("added", "mast.txt")
        with path.open("a", buffering=1) as file:
            for number, word in enumerate(("keel", "rudder", "compass")):
                file.write(SPOKEN.format(number, word))
                watch.until("grown" if number else "added", "meeting.txt", times=max(number, 1))
                (hit,) = [each for each in other.search(word) if each.title == "meeting"]
                text = other.document(hit.document).text
                assert text == path.read_text()
            file.write("[00:00:07] Ada Park: The bud")
            file.flush()
            (folder / "next.txt").write_text("The sail is red.\n")
            watch.until("added", "next.txt")
            assert other.document("meeting").text == text  # no half of a line
            file.write("get is four thousand.\n")
            watch.until("grown", "meeting.txt", times=3)
        assert "budget is four" in other.document("meeting").text
        assert {each.title for each in other.documents() if each.live} == {"meeting"}
    fresh = corpus.search("Where is line number 2?")
    with Corpus(folder.parent / "fresh", encoder=encoder) as whole:
        whole.add([folder])
        again = whole.search("Where is line number 2?")
    assert [each.title for each in fresh] == [each.title for each in again]
    assert [each.score for each in fresh] == pytest.approx([each.score for each in again], 1e-5)


def test_what_is_cut_off_or_rewritten_waits_until_the_file_is_complete(
    folder: Path, corpus: Corpus
) -> None:
    path = folder / "meeting.vtt"
    cue = "00:00:0{0}.000 --> 00:00:0{1}.000\n<v Ada>Line {0} is on the {2}.\n\n"
    before = "WEBVTT\n\n" + cue.format(1, 2, "keel")
    path.write_text(before)
    with Running(FolderWatch(corpus, [folder], settle=PATIENCE)) as watch:
        watch.until("added", "meeting.vtt")
        text = corpus.document("meeting").text
        for number, (written, kept) in enumerate(
            (
                ("WEBVTT\n\n00:0", True),  # cut off, to be written anew
                ("", True),
                (before + "00:00:02.000 --> 00:00:03.000\n", True),  # a cue without its words
                (before + cue.format(2, 3, "rudder"), False),
            )
        ):
            path.write_text(written)
            (folder / f"mark{number}.txt").write_text(f"Mark number {number}.\n")
            watch.until("added", f"mark{number}.txt")
            if kept:
                assert corpus.document("meeting").text == text
        watch.until("grown", "meeting.vtt")
        assert corpus.document("meeting").text == f"{text} Line 2 is on the rudder."
    assert not any(each.kind in {"failed", "updated"} for each in watch.events)


def test_a_transcript_that_is_put_aside_keeps_its_text(folder: Path, corpus: Corpus) -> None:
    """As programs do that begin a file of the same name again."""
    path, aside = folder / "meeting.txt", folder / "meeting.1.txt"
    path.write_text(SPOKEN.format(1, "keel") + SPOKEN.format(2, "rudder"))
    with Running(FolderWatch(corpus, [folder], settle=0.5)) as watch:
        watch.until("added", "meeting.txt")
        path.rename(aside)
        with path.open("a", buffering=1) as file:

            def both() -> bool:
                file.write(SPOKEN.format(len(watch.events), "compass"))
                time.sleep(0.1)
                return {"meeting", "meeting.1"} <= titles(corpus)

            wait_until(both)

            def apart() -> bool:
                texts = [corpus.document(title).text for title in ("meeting", "meeting.1")]
                return "keel" not in texts[0] and texts[1] == aside.read_text()

            wait_until(apart)


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
