"""The derived indexes: the same after loading, and never taken when stale, damaged or not whole."""

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
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.index import snapshot
from indexing.index.snapshot import POSTINGS, Snapshot
from indexing.store.store import FILE_NAME, Store
from rag_app.corpus.corpus import Corpus

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


def store_of(corpus: Corpus) -> Store:
    return Store(corpus.folder)


def folder_of(corpus: Corpus) -> Path:
    return corpus.folder / ".index"


def saved(corpus: Corpus) -> Path:
    (folder,) = folder_of(corpus).glob("g*")
    return folder


def again(corpus: Corpus, encoder: Encoder) -> list[Hit]:
    """The hits of a corpus that is opened again."""
    with Corpus(corpus.folder, encoder=encoder) as fresh:
        return fresh.search(QUERY)


def test_loaded_is_what_was_saved(corpus: Corpus) -> None:
    store = store_of(corpus)
    built, loaded = Snapshot.build(store), Snapshot.load(folder_of(corpus), store)
    assert loaded is not None
    for name in ("generation", "stamp"):
        assert getattr(built, name) == getattr(loaded, name) == getattr(store, name)
    for name in ("document_rows", "passage_rows", "owner"):
        assert np.array_equal(getattr(built, name), getattr(loaded, name))
    assert built.lexicon.stems == loaded.lexicon.stems
    for name in POSTINGS:
        one, two = getattr(built, name), getattr(loaded, name)
        assert one.size == two.size
        for part in ("keys", "bounds", "units", "weights"):
            assert np.array_equal(getattr(one, part), getattr(two, part))
    assert built.speakers.names == loaded.speakers.names
    query = np.ones((1, 384), np.float32)
    for name in ("document_vectors", "passage_vectors"):
        one, two = (getattr(each, name).search(query, 9) for each in (built, loaded))
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
    assert {field.name for field in fields(Snapshot)} == {
        *("generation", "stamp", "document_rows", "passage_rows", "owner", "lexicon", "speakers"),
        *("counts", "languages"),
        *("document_vectors", "passage_vectors", *POSTINGS),
    }


def test_vectors_and_owners_are_those_of_the_store(corpus: Corpus) -> None:
    store = store_of(corpus)
    snapshot = Snapshot.build(store)
    documents = {row: (whole, parts) for row, whole, parts in store.vectors()}
    assert snapshot.document_rows.tolist() == sorted(documents)
    whole = snapshot.document_vectors.index.reconstruct_n(0, len(documents))
    assert np.array_equal(whole, [documents[row][0] for row in sorted(documents)])
    parts = snapshot.passage_vectors.index.reconstruct_n(0, len(snapshot.owner))
    assert np.array_equal(parts, np.vstack([documents[row][1] for row in sorted(documents)]))
    rows = {one.row: one.document for one in store.passage_rows()}
    owners = snapshot.document_rows[snapshot.owner].tolist()
    assert [rows[row] for row in snapshot.passage_rows.tolist()] == owners


def test_pairs_of_stems_do_not_cross_passages(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        words = " ".join(f"word{number}" for number in range(250))
        corpus.add_text(words, name="long")
        corpus.add_text("another word249 thing", name="short")
        store = store_of(corpus)
        snapshot = Snapshot.build(store)
        lexicon = snapshot.lexicon
        bounds = [one.passage for one in store.passage_rows()][:2]
        last = words[: bounds[0].end].rsplit(" ", 1)[-1]
        first = words[bounds[1].start :].split(" ", 1)[0]
        across = lexicon.bigrams(lexicon.numbers(f"{last} {first}"))
        assert not snapshot.passage_pairs.score(across).any()
        assert snapshot.document_pairs.score(across)[0] > 0
        apart = lexicon.bigrams(lexicon.numbers("word249 another"))
        assert len(apart) == 1 and not snapshot.document_pairs.score(apart).any()
        inside = lexicon.bigrams(lexicon.numbers("word3 word4"))
        assert np.flatnonzero(snapshot.passage_pairs.score(inside)).tolist() == [0]


# ---- taken only when whole and current ----


def test_missing_is_made_again(corpus: Corpus, encoder: Encoder) -> None:
    hits = again(corpus, encoder)
    assert hits[0].title == "case"
    shutil.rmtree(folder_of(corpus))
    assert Snapshot.load(folder_of(corpus), store_of(corpus)) is None
    assert again(corpus, encoder) == hits
    assert Snapshot.load(folder_of(corpus), store_of(corpus)) is not None


def damaged(file: Path, how: str) -> None:
    data = bytearray(file.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 0x10
    elif how == "cut":
        del data[len(data) // 2 :]
    elif how == "empty":
        data.clear()
    file.write_bytes(data)
    if how == "gone":
        file.unlink()


@pytest.mark.parametrize("how", ["flip", "cut", "empty", "gone"])
def test_damage_to_any_file_is_seen_and_mended(how: str, corpus: Corpus, encoder: Encoder) -> None:
    hits = again(corpus, encoder)
    names = sorted(file.name for file in saved(corpus).iterdir())
    assert len(names) == 3 + 2 + 1 + 4 * 4 + (1 + 4) + 1
    for name in names:
        damaged(saved(corpus) / name, how)
        assert Snapshot.load(folder_of(corpus), store_of(corpus)) is None, name
        assert again(corpus, encoder) == hits, name
        assert Snapshot.load(folder_of(corpus), store_of(corpus)) is not None, name


def test_large_files_are_read_again_where_they_were_written_to(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is as old as its manifest is believed; `damage` reads it all the same."""
    again(corpus, encoder)
    store, file = store_of(corpus), saved(corpus) / "passages.weights.npy"
    monkeypatch.setattr(snapshot, "LARGE", file.stat().st_size)
    read: list[str] = []
    checksum = snapshot._checksum

    def noted(each: Path) -> list[int]:
        read.append(each.name)
        return checksum(each)

    monkeypatch.setattr(snapshot, "_checksum", noted)
    assert Snapshot.load(folder_of(corpus), store) is not None
    large = {each.name for each in saved(corpus).iterdir() if each.stat().st_size >= snapshot.LARGE}
    assert file.name in large and read and large.isdisjoint(read)
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(saved(corpus) / "manifest.json", ns=(file.stat().st_mtime_ns - 1,) * 2)
    assert Snapshot.load(folder_of(corpus), store) is None
    os.utime(saved(corpus) / "manifest.json", ns=(file.stat().st_ctime_ns,) * 2)  # as if it was so
    assert Snapshot.load(folder_of(corpus), store) is not None
    assert file.name in Snapshot.damage(folder_of(corpus), store)


def test_no_byte_of_the_manifest_can_mislead(corpus: Corpus) -> None:
    """It is not under a checksum itself: flip each byte in turn."""
    store, manifest = store_of(corpus), saved(corpus) / "manifest.json"
    whole = Snapshot.load(folder_of(corpus), store)
    assert whole is not None
    data = manifest.read_bytes()
    for at in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 7
        manifest.write_bytes(flipped)
        loaded = Snapshot.load(folder_of(corpus), store)
        assert loaded is None or np.array_equal(loaded.passage_rows, whole.passage_rows)
    for odd in (
        "[]",
        "null",
        '{"format": 2}',
        '{"format": 2, "stamp": "x", "files": []}',
        "{" * 99,
    ):
        manifest.write_text(odd)
        assert Snapshot.load(folder_of(corpus), store) is None


def test_stale_is_not_taken(corpus: Corpus, encoder: Encoder) -> None:
    store = store_of(corpus)
    old = saved(corpus)
    store.remove([store.identities()[0].id])
    assert Snapshot.load(folder_of(corpus), store) is None
    shutil.copytree(old, folder_of(corpus) / f"g{store.generation}")  # under a current name, even
    assert Snapshot.load(folder_of(corpus), store) is None
    assert "lake" not in {hit.title for hit in again(corpus, encoder)}


def test_a_corpus_made_anew_does_not_take_the_old_index(corpus: Corpus, encoder: Encoder) -> None:
    """The database was deleted, and a new one has come to the same generation."""
    corpus.close()
    generation = store_of(corpus).generation
    for file in corpus.folder.glob(f"{FILE_NAME}*"):
        file.unlink()
    kept = folder_of(corpus).rename(corpus.folder / "kept")
    with Corpus(corpus.folder, encoder=encoder) as fresh:
        for name in ("rubber", "price", "x"):
            fresh.add_text(f"Something else about {name}.", name=name)
    assert store_of(corpus).generation == generation
    shutil.rmtree(folder_of(corpus))
    kept.rename(folder_of(corpus))
    assert Snapshot.load(folder_of(corpus), store_of(corpus)) is None
    assert again(corpus, encoder)[0].passages[0].text == "Something else about rubber."


def test_older_ones_are_dropped_and_newer_ones_kept(corpus: Corpus) -> None:
    store, folder = store_of(corpus), folder_of(corpus)
    (folder / "g999999").mkdir()
    (folder / "g1").mkdir()
    (folder / "gx").mkdir()
    Snapshot.build(store).save(folder)
    assert {each.name for each in folder.iterdir()} == {f"g{store.generation}", "g999999"}


# ---- killed while saving ----

SAVE_FOR_EVER = """
import sys
from pathlib import Path
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
store = Store(Path(sys.argv[1]))
snapshot = Snapshot.build(store)
print("ready", flush=True)
while True:
    snapshot.save(Path(sys.argv[1]) / ".index")
"""


def test_killed_while_saving(corpus: Corpus, encoder: Encoder) -> None:
    """Whatever is found there afterwards is whole or is not taken; search goes on in any case."""
    hits, store, draw = again(corpus, encoder), store_of(corpus), random.Random(0)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(corpus.folder)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(draw.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert again(corpus, encoder) == hits
    assert json.loads((saved(corpus) / "manifest.json").read_text())["stamp"] == store.stamp
