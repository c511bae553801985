"""Killed at any moment, a corpus ends as if nothing had happened; one writes while many read."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import CorpusLocked
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.segments import Segments
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ("Which probe fell into the lake?", "number 7")
TIMED, COUNTED = 13, 20  # kills by the clock, and before a chosen call that writes
ROUNDS = 4  # kills of one corpus before it is let to its end


class Jobs:
    """Forks of a process that has loaded the encoder."""

    def __init__(self) -> None:
        server = Path(__file__).with_name("fork_server.py")
        self.process = subprocess.Popen(
            [sys.executable, str(server)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def _ask(self, **job: object) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self._answer())

    def start(self, do: str, corpus: Path, files: Path, *, stop: int | None = None) -> int:
        """The id of a process that does it."""
        return self._ask(do=do, corpus=str(corpus), files=str(files), stop=stop)

    def wait(self, process: int) -> int:
        """Its exit status, negative for a signal."""
        return self._ask(do="wait", process=process)

    def index(self, corpus: Path, files: Path, *, stop: int | None = None) -> int:
        return self.wait(self.start("index", corpus, files, stop=stop))

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    with closing(Jobs()) as jobs:
        yield jobs


def write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)


def content(corpus: Path) -> dict[tuple[str, str], object]:
    """Everything a database says of each document, by file and part."""
    store = Store(corpus)
    assert verify(store.database) == []
    found: dict[tuple[str, str], object] = {}
    for entry, (_, whole, parts) in zip(store.entries(), store.vectors(), strict=True):
        found[Path(entry.path).name, entry.part] = (
            *(store.document(entry.id), store.passages_of(entry.id)),
            *(whole.tobytes(), parts.tobytes(), store.files.state(entry.path)),
        )
    store.close()
    return found


def hits(corpus: Path, encoder: Encoder) -> list[list[Hit]]:
    with Corpus(corpus, encoder=encoder) as opened:
        return [opened.search(query, k=20) for query in QUERIES]


class Bench:
    """A corpus of files, the files as they are now, and what indexing them must give."""

    def __init__(self, folder: Path, jobs: Jobs, encoder: Encoder) -> None:
        self.folder, self.jobs, self.encoder = folder, jobs, encoder
        self.files, self.start = folder / "files", folder / "start"
        texts = {f"{n:02}.txt": f"Ana: Probe {n} fell.\nBob: Into lake {n}." for n in range(12)}
        said = [
            {"id": f"m{n}", "meeting_transcripts": [{"speaker": "Ana", "content": f"Number {n}."}]}
            for n in range(3)
        ]
        write(self.files, {**texts, "all.jsonl": "\n".join(map(json.dumps, said))})
        assert jobs.index(self.start, self.files) == 0
        self.before = content(self.start)
        changes = {f"{n:02}.txt": f"Probe {n} was found again." * 9 for n in (3, 7, 10)}
        added = {f"new-{n}.md": f"# Heading {n}\n\nNumber {n} is new." for n in range(3)}
        write(self.files, {**changes, **added, "all.jsonl": json.dumps(said[2])})
        (self.files / "01.txt").rename(self.files / "zz.txt")
        undisturbed = self.copy("undisturbed")
        began = time.monotonic()
        assert jobs.index(undisturbed, self.files) == 0
        self.seconds = time.monotonic() - began
        self.after = content(undisturbed)
        self.found = hits(undisturbed, encoder)
        track = self.copy("counted")
        assert jobs.index(track, self.files, stop=10**9) == 0
        self.calls = int((track / "calls").read_text())

    def copy(self, name: str) -> Path:
        """The corpus as it was before the files changed."""
        return Path(shutil.copytree(self.start, self.folder / name))

    def check_between(self, corpus: Path) -> None:
        """After a kill: each document is whole, as it was or as it will be."""
        for place, document in content(corpus).items():
            known = (self.before.get(place), self.after.get(place))
            assert any(one is not None and _same(document, one) for one in known), place

    def check_end(self, corpus: Path) -> None:
        """After an undisturbed run: the same corpus, and an index that is ready."""
        assert self.jobs.index(corpus, self.files) == 0
        assert content(corpus) == self.after
        store = Store(corpus)
        assert Segments(corpus).are_current(store) and not Segments(corpus).damage(store)
        store.close()
        assert hits(corpus, self.encoder) == self.found
        shutil.rmtree(corpus)


def _same(one: object, two: object) -> bool:
    """But for the state of the file, which is noted last."""
    assert isinstance(one, tuple) and isinstance(two, tuple)
    return bool(one[:-1] == two[:-1])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, jobs: Jobs, encoder: Encoder) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), jobs, encoder)


def test_the_bench_is_fair(bench: Bench) -> None:
    """The undisturbed run did all kinds of things, and found what it was asked."""
    assert len(bench.after) == 12 + 1 + 3
    assert ("zz.txt", "") in bench.after and ("01.txt", "") not in bench.after
    assert bench.before != bench.after and bench.calls > 100
    assert all(found and found[0].passages for found in bench.found)


def test_killed_by_the_clock(bench: Bench) -> None:
    draw, killed = random.Random(1), 0
    for trial in range(0, TIMED, ROUNDS):
        corpus = bench.copy(f"timed-{trial}")
        for _ in range(ROUNDS):
            process = bench.jobs.start("index", corpus, bench.files)
            time.sleep(draw.uniform(0, bench.seconds))
            os.kill(process, signal.SIGKILL)
            killed += bench.jobs.wait(process) == -signal.SIGKILL
            bench.check_between(corpus)
        bench.check_end(corpus)
    assert killed > 0


def test_killed_before_a_call_that_writes(bench: Bench) -> None:
    """Statements of a transaction, and the files of the index, one after another."""
    draw, killed = random.Random(2), 0
    for trial in range(0, COUNTED, ROUNDS):
        corpus = bench.copy(f"counted-{trial}")
        for round_ in range(ROUNDS):
            stop = draw.randrange(1, bench.calls // (round_ + 1))
            status = bench.jobs.index(corpus, bench.files, stop=stop)
            assert status in {-signal.SIGKILL, 0}  # what is published meanwhile varies, or is left
            killed += status != 0
            bench.check_between(corpus)
        bench.check_end(corpus)
    assert killed >= COUNTED / ROUNDS / 2


def test_killed_at_the_very_first_run(bench: Bench) -> None:
    """Before there is a database, or while it is made."""
    for stop in (1, 2, 5, 9, 14, 25):
        corpus = bench.folder / f"first-{stop}"
        assert bench.jobs.index(corpus, bench.files, stop=stop) == -signal.SIGKILL
        assert bench.jobs.index(corpus, bench.files) == 0
        ours = {place: one[0] for place, one in content(corpus).items() if isinstance(one, tuple)}
        assert {one.text for one in ours.values()} == {
            one[0].text for one in bench.after.values() if isinstance(one, tuple)
        }
        shutil.rmtree(corpus)


# ---- one writer, many readers ----


def test_a_second_writer_is_told_at_once(
    bench: Bench, jobs: Jobs, encoder: Encoder, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    write(files, {"a.txt": "Probe 7 was found.", "b.txt": "So was probe 8."})
    corpus = bench.copy("locked")
    writer = jobs.start("hold", corpus, files)
    wait_until((files / "held").exists)
    with Corpus(corpus, encoder=encoder, wait=0) as second:
        for write_too in (
            lambda: second.add([files]),
            lambda: second.add_text("More.", name="more"),
            lambda: second.remove([files / "a.txt"]),
            second.reencode,
        ):
            with pytest.raises(CorpusLocked, match="wait until it is done"):
                write_too()  # while the writer waits for "go", so it does not wait for the writer
        assert second.search("probe 7")  # reading goes on
        (files / "go").touch()
        assert jobs.wait(writer) == 0
        assert second.add([files]).unchanged == 2
    shutil.rmtree(corpus)


def test_a_lock_dies_with_its_writer(bench: Bench, jobs: Jobs, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write(files, {"a.txt": "Probe 7 was found."})
    corpus = bench.copy("orphaned")
    writer = jobs.start("hold", corpus, files)
    wait_until((files / "held").exists)
    os.kill(writer, signal.SIGKILL)
    assert jobs.wait(writer) == -signal.SIGKILL
    assert jobs.index(corpus, bench.files) == 0
    shutil.rmtree(corpus)


def test_readers_see_one_moment_while_a_writer_writes(
    jobs: Jobs, encoder: Encoder, tmp_path: Path
) -> None:
    """Every quote is what its document says at that place, at the moment of the search."""
    files, corpus = tmp_path / "files", tmp_path / "corpus"
    write(files, {f"{n}.txt": f"Turn 0 of {n}. A probe fell." for n in range(6)})
    assert jobs.index(corpus, files) == 0
    writer = jobs.start("rewrite", corpus, files)
    generations = set[int]()
    with Corpus(corpus, encoder=encoder) as reader:
        store = reader._stores.connection()
        while len(generations) <= 5:
            with store.reading():
                for hit in reader.search("Which probe fell?", k=10):
                    text = store.document(hit.document).text
                    for passage in hit.passages:
                        assert text[passage.start : passage.end] == passage.text
                        assert "A probe fell." in passage.text
                generations.add(store.generation)
    (files / "go").touch()
    assert jobs.wait(writer) == 0
