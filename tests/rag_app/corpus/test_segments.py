"""The segments of a corpus: whole and current, or made again; nobody waits for a writer."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import ManifestDamaged
from indexing.index import merging
from indexing.index.segment import Segment
from indexing.index.snapshot import Snapshot
from indexing.store.store import FILE_NAME, Store
from rag_app.corpus import indexes, segments
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.segments import Segments
from rag_app.corpus.write_lock import lock
from tests.waiting import wait_until

TEXTS = {
    "lake": "The probe fell into the lake. Divers found it after two days.\n\nIt had lost its lid.",
    "price": "The price of probes was lowered to ninety euros. Nobody objected.",
    "case": "Ana asked for a rubber case. Bob said that a rubber case costs four euros.",
}
QUERY = "What does the rubber case cost?"


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for name, text in TEXTS.items():
            corpus.add_text(text, name=name)
        yield corpus


def files(corpus: Corpus) -> list[Path]:
    """The files of its segments."""
    with Store(corpus.folder).reading():
        entries = Store(corpus.folder).index.manifest().segments
    return [corpus.folder / ".index" / f"{entry.name}.segment" for _, entry in entries]


def is_current(corpus: Corpus) -> bool:
    store = Store(corpus.folder)
    return Segments(corpus.folder).are_current(store) and not Segments(corpus.folder).damage(store)


def again(corpus: Corpus, encoder: Encoder) -> list[Hit]:
    """The hits of a corpus that is opened again."""
    with Corpus(corpus.folder, encoder=encoder) as fresh:
        return fresh.search(QUERY)


def test_a_change_adds_a_segment_and_leaves_the_others(corpus: Corpus) -> None:
    before = {path: path.stat().st_mtime_ns for path in files(corpus)}
    assert len(before) == 3
    corpus.add_text("A ferry.", name="ferry")
    corpus.remove(["lake"])
    after = {path: path.stat().st_mtime_ns for path in files(corpus)}
    assert len(after.items() - before.items()) == 1 and is_current(corpus)
    assert {hit.title for hit in corpus.search("ferry lake", k=9)} == {"ferry", "price", "case"}


def test_a_search_reads_and_writes_nothing_else(corpus: Corpus, encoder: Encoder) -> None:
    """A corpus that is only read never changes on disk."""

    def state() -> dict[str, int]:
        every = sorted(corpus.folder.rglob("*"))
        return {str(path): path.stat().st_mtime_ns for path in every if "sqlite-" not in path.name}

    before = state()
    assert again(corpus, encoder)[0].title == "case"
    assert state() == before


@pytest.mark.parametrize("how", ["flip", "cut", "empty", "gone"])
def test_damage_to_any_segment_is_seen_and_mended(
    how: str, corpus: Corpus, encoder: Encoder
) -> None:
    hits = again(corpus, encoder)
    for number in range(3):
        path = files(corpus)[number]
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x10
        path.write_bytes(
            {"flip": bytes(data), "cut": bytes(data[:99]), "empty": b"", "gone": b""}[how]
        )
        if how == "gone":
            path.unlink()
        others = {*files(corpus)} - {path}
        damage = corpus.verify().damages
        assert [one.what for one in damage] == ["index"] and path.stem in damage[0].reason
        if number:
            assert again(corpus, encoder) == hits  # which makes it again, too
        else:
            corpus.repair()
        assert is_current(corpus) and others <= {*files(corpus)} and path not in files(corpus)
        assert again(corpus, encoder) == hits


def test_missing_is_made_again(corpus: Corpus, encoder: Encoder) -> None:
    hits = again(corpus, encoder)
    shutil.rmtree(corpus.folder / ".index")
    assert not is_current(corpus)
    assert again(corpus, encoder) == hits and is_current(corpus)
    with corpus.writing() as store, store.database.writing():
        store.database.run("UPDATE segments SET entry = '[]'")
    assert "manifest" in corpus.verify().damages[0].reason
    assert again(corpus, encoder) == hits
    corpus.repair()
    assert again(corpus, encoder) == hits and is_current(corpus)


@pytest.mark.parametrize(
    "change",
    [
        "INSERT OR REPLACE INTO outdated VALUES (1, 'x')",
        "UPDATE segments SET entry = '{'",
        "UPDATE segments SET entry = 7",
    ],
)
def test_a_manifest_that_cannot_be_read_is_told(
    change: str, corpus: Corpus, encoder: Encoder
) -> None:
    """By whoever writes; searches find what they did."""
    hits = again(corpus, encoder)
    with corpus.writing() as store, store.database.writing():
        store.database.run(change)
    assert again(corpus, encoder) == hits
    for call in (corpus.info, corpus.optimize):
        with pytest.raises(ManifestDamaged, match="verify --repair"):
            call()
    (damage,) = corpus.verify().damages
    assert damage.what == "index" and "manifest" in damage.reason
    corpus.repair()
    assert corpus.verify().sound and again(corpus, encoder) == hits


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM segments WHERE number = 3",
        "INSERT INTO outdated VALUES (1, 3)",
        "DELETE FROM outdated",
        "INSERT INTO unindexed VALUES (1)",
    ],
)
def test_a_manifest_that_fits_no_documents_is_told(
    change: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "OUTDATED", 1)
    corpus.remove(["price"])
    with corpus.writing() as store, store.database.writing():
        store.database.run(change)
    damage = corpus.verify().damages
    assert [one.what for one in damage] == ["index"] and "documents" in damage[0].reason
    corpus.repair()
    assert corpus.verify().sound and len(corpus.search(QUERY, k=9)) == 2


def test_an_index_of_an_earlier_version_is_brought_over(corpus: Corpus, encoder: Encoder) -> None:
    """As after the migration: no segment, every document unindexed, and files of another kind."""
    hits = again(corpus, encoder)
    for path in files(corpus):
        path.unlink()
    (corpus.folder / ".index" / "g7").mkdir()
    with corpus.writing() as store, store.database.writing():
        store.index.clear()
    assert again(corpus, encoder) == hits and is_current(corpus)
    assert not (corpus.folder / ".index" / "g7").exists()


def test_a_corpus_made_anew_does_not_take_the_old_segments(
    corpus: Corpus, encoder: Encoder
) -> None:
    corpus.close()
    for file in corpus.folder.glob(f"{FILE_NAME}*"):
        file.unlink()
    with Corpus(corpus.folder, encoder=encoder) as fresh:
        fresh.add_text("Something else about rubber.", name="rubber")
    assert again(corpus, encoder)[0].passages[0].text == "Something else about rubber."


def test_files_stay_for_a_while_for_those_who_are_about_to_open_them(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = files(corpus)
    with corpus.writing() as store:
        Segments(corpus.folder).merge(store, merging.all_of_them)
        merged = files(corpus)
        Segments(corpus.folder).merge(store, merging.all_of_them)
    assert (
        len(files(corpus)) == 1 and files(corpus) == merged and all(path.exists() for path in old)
    )
    monkeypatch.setattr(segments, "GRACE", 0.0)
    corpus.add_text("A ferry.", name="ferry")
    assert not any(path.exists() for path in old) and is_current(corpus)


def test_a_search_goes_on_with_the_moment_that_it_began_with(corpus: Corpus) -> None:
    with corpus.reading() as now:
        rows = now.snapshot.document_rows.tolist()
        other = threading.Thread(target=corpus.add_text, args=("A ferry.",), kwargs={"name": "x"})
        other.start()
        other.join()
        assert now.snapshot.document_rows.tolist() == rows
        assert [row for row, *_ in now.store.document_rows()] == rows
    assert len(corpus.search(QUERY, k=9)) == 4


def test_nobody_builds_beside_a_writer(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = again(corpus, encoder)
    monkeypatch.setattr(Segment, "build", None)
    with lock(corpus.folder), Corpus(corpus.folder, encoder=encoder) as other:
        with Store(corpus.folder).database.writing():
            pass
        store = Store(corpus.folder)
        with store.database.writing():
            store.index.outdate([])
            store.database.run("INSERT OR IGNORE INTO unindexed VALUES (1)")
        assert other.search(QUERY) == hits


def test_what_is_committed_is_found_during_a_long_add(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "PUBLICATION", 0.01)
    begun, go_on, before = threading.Event(), threading.Event(), corpus.info().segments

    def documents() -> Iterator[object]:
        from indexing.files import document

        yield document("A ferry sank.", name="ferry")
        begun.set()
        assert go_on.wait(60)
        yield document("A tower fell.", name="tower")

    adding = threading.Thread(target=lambda: corpus.add_documents(documents()))  # type: ignore[arg-type]
    adding.start()
    assert begun.wait(60)
    with Corpus(corpus.folder, encoder=encoder) as other:
        deadline = time.monotonic() + 60
        while other.search("ferry", k=9)[0].title != "ferry":
            assert time.monotonic() < deadline
        assert adding.is_alive() and len(other.search("tower", k=9)) == 4
        go_on.set()
        adding.join()
        assert other.search("tower")[0].title == "tower"
        assert other.info().segments == before + 1  # of all that came


def test_a_folder_that_is_no_folder_is_told(tmp_path: Path, encoder: Encoder) -> None:
    told: list[str] = []
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / ".index").write_text("in the way")
    with Corpus(tmp_path / "corpus", encoder=encoder, notify=told.append) as corpus:
        corpus.add_text("A ferry.", name="ferry")
        assert corpus.search("ferry")[0].title == "ferry"
    assert "cannot be saved" in told[0]


# ---- killed while publishing and merging ----

CHANGE_FOR_EVER = """
import sys
from pathlib import Path
from indexing.index import merging
from indexing.store.store import Store
from rag_app.corpus.segments import Segments
merging.FACTOR = 2
folder = Path(sys.argv[1])
store = Store(folder)
rows = [row for row, *_ in store.document_rows()]
print("ready", flush=True)
while True:
    for row in rows:
        with store.database.writing():
            store.index.outdate([row])
        Segments(folder).refresh(store)
"""


def test_killed_while_publishing_and_merging(corpus: Corpus, encoder: Encoder) -> None:
    """Whatever is found there afterwards is whole, or made again; search goes on in any case."""
    hits, draw = again(corpus, encoder), random.Random(0)
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", CHANGE_FOR_EVER, str(corpus.folder)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(draw.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert again(corpus, encoder) == hits
        assert is_current(corpus)


def test_many_segments_become_few(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "FACTOR", 3)
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for number in range(7):
            corpus.add_text(f"Probe {number} fell.", name=f"probe {number}")
            assert len(files(corpus)) <= 3
        with corpus.reading() as now:
            whole = Snapshot.of([(Segment.build(now.store), ())])
            assert now.snapshot.document_rows.tolist() == whole.document_rows.tolist()


def test_merged_segments_are_let_go_without_a_search(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "FACTOR", 3)
    with Corpus(tmp_path / "many", encoder=encoder) as many:
        for number in range(7):
            many.add_text(f"Ferry {number} leaves at noon.", name=f"ferry-{number}")
        assert set(many._indexes._segments._open) <= {path.stem for path in files(many)}


def test_a_merge_in_the_background_waits_for_nobody(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on beside somebody who writes, and leaves the same hits."""
    monkeypatch.setattr(merging, "FACTOR", 2)
    monkeypatch.setattr(merging, "AT_ONCE", 0)
    monkeypatch.setattr(segments, "AT_ONCE", 0)
    for number in range(3):
        corpus.add_text(f"Buoy {number} rings.", name=f"buoy-{number}")
    about, hits = corpus.info(), corpus.search("Which buoy rings?", k=20)
    assert about.waiting > 1
    with corpus.writing():
        corpus.merge_in_background()
        wait_until(lambda: corpus.info().waiting == 0)
    assert corpus.info().segments < about.segments
    assert corpus.search("Which buoy rings?", k=20) == hits and is_current(corpus)


def test_info_says_who_merges(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    merge, told = merging.merge, list[str]()

    def told_meanwhile(*parts: Any, **options: Any) -> Segment | None:
        told.append(corpus.info().merging)
        return merge(*parts, **options)

    monkeypatch.setattr("rag_app.corpus.segments.merge", told_meanwhile)
    corpus.add_text("Buoy 1 rings.", name="buoy")
    corpus.optimize()
    assert told and all(one.startswith("this process") for one in told)
    assert corpus.info().merging == ""


def test_a_merge_that_is_not_wanted_leaves_nothing(corpus: Corpus, encoder: Encoder) -> None:
    """Wherever it ends: the files and the hits are as before."""
    corpus.add_text("Buoy 2 rings.", name="buoy")
    hits, before = again(corpus, encoder), sorted(files(corpus))
    with corpus.writing() as store:
        for last in range(1, 200):
            asked = chain(repeat(True, last), repeat(False))
            corpus._indexes._segments.merge(store, merging.all_of_them, wanted=partial(next, asked))
            if sorted(files(corpus)) != before:
                break
            assert not [*corpus._indexes._segments.folder.glob("*.draft")]
    assert 10 < last < 199
    assert again(corpus, encoder) == hits and is_current(corpus)
