"""A corpus in shards answers as in one piece, after every change, and is published whole."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import (
    CollectionNotFound,
    CorpusDamaged,
    CorpusError,
    CorpusNotFound,
    InvalidRequest,
)
from indexing.filter import OWNER, Filter, Scope
from indexing.index import merging
from indexing.index.merging import all_of_them
from indexing.store.store import Store
from indexing.store.transfer import transfer
from rag_app.corpus import segments
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.reader import CorpusReader
from rag_app.corpus.shards.manifest import ShardManifest, folder_of, shard_of
from rag_app.corpus.shards.shards import Shards
from retriever.similar_documents import similar_documents
from tests.waiting import wait_until

QUESTIONS = ("Where did the probe fall?", "What did Ana say about the ferry? Who paid?", "soup")
FILTERS = (None, Filter(collections=("second",)), Filter(speaker="Ana"))
SCOPES = (OWNER, Scope("eve"))
DOCUMENTS = {
    f"talk-{n}.txt": f"Ana: The probe {n} fell into the lake.\nBob: The ferry cost {n * 7} euros.\n"
    + f"Ana: Soup number {n % 3} is served at noon.\n" * (n + 1) * 3
    for n in range(11)
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def corpus(folder: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    encode = cache(encoder.encode_queries)
    monkeypatch.setattr(encoder, "encode_queries", lambda texts: encode(tuple(texts)))
    with Corpus(folder.parent / "corpus", encoder=encoder) as corpus:
        corpus.add([folder])
        corpus.collections.create("second", owner="ada")
        corpus.collections.add("second", ["talk-4", "talk-5"])
        yield corpus


def in_one_piece(corpus: CorpusReader, question: str, where: Filter | None) -> list[Hit]:
    with corpus.retriever() as retriever:
        return retriever.search(question, k=6, passages=3, where=where)


def check_equal(corpus: Corpus, manifest: ShardManifest | None = None) -> None:
    """Ids, order, scores to the last bit, texts, places; and what is similar."""
    assert corpus.info().snapshot == "current"
    manifest = manifest or corpus.shards
    assert manifest is not None
    assert sum(one.documents for one in manifest.shards) == len(corpus.documents())
    for question in QUESTIONS:
        for scope, where in product(SCOPES, FILTERS):
            if scope != OWNER and where is not None and where.collections:
                continue  # which eve does not know of
            seen = corpus.seen_by(scope)
            hits = seen.search(question, k=6, where=where)
            assert hits == in_one_piece(seen, question, where), (question, scope, where)
            assert hits or scope != OWNER
    with corpus.reading() as now:
        for entry in corpus.documents()[:2]:
            expected = similar_documents(entry.id, [(now.store, now.snapshot)], k=4)
            assert corpus.similar(entry.id, k=4) == expected


def test_every_change_is_searched_as_in_one_piece(corpus: Corpus, folder: Path) -> None:
    changes: list[Callable[[], object]] = [
        lambda: (
            (folder / "talk-3.txt").write_text("Cara: The probe lay in the harbour.")
            and corpus.add([folder])
        ),
        lambda: corpus.add_text("Ana: The ferry sails.", name="note", collection="second"),
        lambda: corpus.remove(["talk-1", "talk-8"]),
        lambda: (folder / "talk-2.txt").rename(folder / "moved.txt") and corpus.add([folder]),
        lambda: corpus.remove(["talk-4"], collection="second"),
        lambda: corpus.collections.add("second", ["talk-7"]),
        lambda: corpus.speakers.rename("Ana", "Anabel"),
        lambda: corpus.collections.delete("second") and corpus.collections.create("second"),
    ]
    check_equal(corpus, corpus.divide(3))
    for change in changes:
        before = corpus.shards
        change()
        manifest = corpus.shards
        assert manifest is not None and before is not None
        assert manifest.generation > before.generation
        check_equal(corpus) if change is not changes[-1] else None
    assert not corpus.search("ferry", where=Filter(collections=("second",)))
    with pytest.raises(CollectionNotFound):
        corpus.search("ferry", where=Filter(collections=("third",)))


def test_other_numbers_of_shards_move_only_what_has_to(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []

    def counted(source: Store, target: Store, rows: list[int], **options: object) -> None:
        moved.extend(rows)
        transfer(source, target, rows, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("rag_app.corpus.shards.shards.transfer", counted)
    ids, before = [one.id for one in corpus.documents()], dict[str, str]()
    for count in (1, 2, 3, 7, 2):
        moved.clear()
        manifest = corpus.divide(count)
        names = [one.name for one in manifest.shards]
        assert names == [str(n) for n in range(count)]
        owners = {id_: shard_of(id_, names) for id_ in ids}
        assert len(moved) == sum(owners[id_] != before.get(id_) for id_ in ids)
        check_equal(corpus)
        before = owners
    answer = replace(corpus.ask("Where did the probe 5 fall?"), seconds={})
    corpus.unite()
    assert corpus.shards is None and not (corpus.folder / ".shards").exists()
    assert replace(corpus.ask("Where did the probe 5 fall?"), seconds={}) == answer


def test_what_cannot_be_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    for count in (0, 4097):
        with pytest.raises(InvalidRequest, match="give 1 to 4096"):
            corpus.divide(count)
    with Corpus(tmp_path / "none") as other:
        for call in (lambda: other.divide(2), other.unite, lambda: other.shards):
            with pytest.raises(CorpusNotFound):
                call()
    assert corpus.shards is None


def test_a_publisher_that_stops_leaves_the_old_shards(
    corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.divide(3)
    before, hits = corpus.shards, corpus.search("probe", k=20)
    for name in DOCUMENTS:
        (folder / name).write_text("Dan: Nothing is left of the probe in " + name)
    calls: list[int] = []

    def stopping(*arguments: object, **options: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        transfer(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("rag_app.corpus.shards.shards.transfer", stopping)
    with pytest.raises(KeyboardInterrupt):
        corpus.add([folder])
    assert corpus.shards == before and corpus.info().snapshot == "missing"
    assert corpus.search("probe", k=20) == hits
    assert corpus.add([folder]).unchanged == 11  # committed before; now published
    check_equal(corpus)


def test_a_search_reads_what_it_has_pinned(corpus: Corpus, folder: Path) -> None:
    corpus.divide(2)
    shards = Shards(corpus.folder)
    with shards.reading() as pinned:
        texts = {one.id: pinned.document(one.id).text for one in corpus.documents()}
        for turn in range(3):
            for name in DOCUMENTS:
                (folder / name).write_text(f"Dan: {turn} is all that is left of {name}")
            corpus.add([folder])
        assert {id_: pinned.document(id_).text for id_ in texts} == texts
    with shards.reading() as pinned:
        new = [one.id for one in corpus.documents() if "2 is all" in pinned.document(one.id).text]
    assert len(new) == 11
    folders = [one for one in (corpus.folder / ".shards").glob("*/*") if one.is_dir()]
    assert len(folders) == 4, "what is published, and what was before"
    shards.close()


def test_searches_go_on_while_shards_are_published(corpus: Corpus) -> None:
    corpus.divide(2)
    wanted, failed = corpus.search("probe"), []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            if corpus.search("probe") != wanted:
                failed.append(1)

    thread = threading.Thread(target=look)
    thread.start()
    for count in (3, 4, 2, 5):
        corpus.divide(count)
    done.set()
    thread.join()
    assert not failed


def test_damage_is_found_and_repaired(corpus: Corpus) -> None:
    corpus.divide(2)
    assert corpus.verify().sound
    manifest = corpus.shards
    assert manifest is not None
    state = corpus.folder / ".shards" / "0" / f"g{manifest.generation}"
    file = max(state.rglob("*.segment"), key=lambda path: path.stat().st_size)
    file.write_bytes(b"nothing")
    assert "shard 0" in str(corpus.verify().damages[0])
    corpus.repair()
    assert corpus.verify().sound
    check_equal(corpus)
    shutil.rmtree(state.with_name(f"g{manifest.generation + 1}"))
    with pytest.raises(CorpusNotFound), Shards(corpus.folder).reading():
        pass
    (corpus.folder / ".shards" / "manifest.json").write_text("{")
    with pytest.raises(CorpusDamaged, match="cluster init"):
        corpus.search("probe")
    corpus.unite()
    assert corpus.search("probe")


def grown(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two shards that have segments to be merged."""
    monkeypatch.setattr(merging, "FACTOR", 2)
    monkeypatch.setattr(segments, "AT_ONCE", 0)
    corpus.divide(2)
    for number in range(4):
        corpus.add_text(f"Ana: Buoy {number} rings.", name=f"buoy-{number}")
    assert corpus.info().waiting > 1


def segments_of(corpus: Corpus) -> list[int]:
    """How many each shard has: in its manifest, and as files."""
    found = []
    for state in corpus.shards.shards if corpus.shards else ():
        folder = corpus.folder / ".shards" / folder_of(state)
        with closing(Store(folder)) as store:
            found.append(len(store.index.manifest().segments))
        assert len([*(folder / ".index").glob("*.segment")]) == found[-1]
    return found


def files(corpus: Corpus) -> dict[Path, int]:
    """What is published, and what of it was written when."""
    found = (corpus.folder / ".shards").glob("*/**/*.segment")
    return {path: path.stat().st_ino for path in found}


def test_shards_are_merged_in_a_pause(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(corpus, monkeypatch)
    before, hits = segments_of(corpus), corpus.search("Which buoy rings?", k=20)
    corpus.merge_in_background()
    wait_until(lambda: corpus.info().waiting == 0)
    assert sum(segments_of(corpus)) < sum(before) and corpus.info().segments < sum(before)
    assert corpus.search("Which buoy rings?", k=20) == hits
    check_equal(corpus)
    assert corpus.verify().sound
    assert corpus.optimize() and segments_of(corpus) == [1, 1]
    check_equal(corpus)


def test_a_merge_gives_way_to_a_change(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others publish while a shard is merged stays as they leave it."""
    grown(corpus, monkeypatch)
    changed: list[ShardManifest | None] = []

    @contextmanager
    def after_a_change() -> Iterator[None]:
        if not changed:
            corpus.remove(["talk-1", "talk-2", "talk-3", "talk-8"])
            changed.append(corpus.shards)
        yield

    shards = Shards(corpus.folder)
    before = corpus.shards
    shards.merge(all_of_them, publishing=after_a_change)
    assert changed and changed[0] != before
    assert len(corpus.documents()) == len(DOCUMENTS)
    check_equal(corpus)
    assert not [*(corpus.folder / ".shards").glob("*/merged")]


def test_a_merge_of_shards_that_is_not_wanted_leaves_nothing(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(corpus, monkeypatch)
    before, manifest = files(corpus), corpus.shards
    shards = Shards(corpus.folder)
    for steps in range(1, 12):
        asked: list[int] = []

        def wanted(asked: list[int] = asked, steps: int = steps) -> bool:
            asked.append(1)
            return len(asked) < steps

        shards.merge(all_of_them, wanted=wanted)
        assert len(asked) >= steps
        assert (files(corpus), corpus.shards) == (before, manifest)


def test_a_merge_that_finds_no_room_leaves_nothing(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(corpus, monkeypatch)
    before, left = files(corpus), corpus.folder / ".shards" / "0" / "merged"
    left.mkdir()
    (left / "of-a-process-that-was-killed").touch()

    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, f"no space for {target}")

    monkeypatch.setattr("rag_app.corpus.shards.shards.copy_segments", full)
    with pytest.raises(CorpusError, match="make room"):
        corpus.optimize()
    assert files(corpus) == before and not left.exists()
    monkeypatch.undo()
    assert corpus.optimize() and segments_of(corpus) == [1, 1]


PUBLISHER = """
import sys
from itertools import count
from pathlib import Path
from indexing.index.merging import all_of_them
from indexing.index import merging
from indexing.index.merging import all_of_them
from indexing.store.store import Store
from indexing.store.transfer import transfer
from rag_app.corpus.shards.manifest import Division
from rag_app.corpus.shards.shards import Shards
store, shards = Store(Path(sys.argv[1])), Shards(Path(sys.argv[1]))
print("begins", flush=True)
for number in count():
    shards.divide(store, Division(2 + number % 5))
    shards.merge(all_of_them)
"""


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_publisher_leaves_whole_shards(corpus: Corpus, kills: int) -> None:
    corpus.divide(3)
    wanted, draw = corpus.search("probe", k=20), Random(14)
    for _ in range(kills):
        publisher = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, str(corpus.folder)], stdout=subprocess.PIPE
        )
        assert publisher.stdout is not None and publisher.stdout.readline() == b"begins\n"
        with pytest.raises(subprocess.TimeoutExpired):
            publisher.wait(draw.random())
        publisher.send_signal(signal.SIGKILL)
        publisher.wait()
        publisher.stdout.close()
        assert corpus.search("probe", k=20) == wanted
    check_equal(corpus, corpus.divide(4))
