"""Segments: the same after loading; merged, those of a corpus that was indexed at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from indexing.encoder.encoder import Encoder
from indexing.index import merging
from indexing.index.array_file import read_arrays, write_arrays
from indexing.index.lexical import bm25_builder
from indexing.index.merging import due, merge
from indexing.index.segment import Segment
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from rag_app.corpus.corpus import Corpus
from tests.indexing.store.drawn import passage_rows

TEXTS = {
    "lake": "Ana: The probe fell into the lake.\n\nBob: Divers found it after two days.",
    "price": "The price of probes was lowered to ninety euros. Nobody objected.",
    "case": "Ana: I want a rubber case.\n\nCara: A rubber case costs four euros.",
    "rat": "Der Rat der Stadt hat nicht mit dem Schiff und den Leuten gesprochen, die es sind.",
    "long": " ".join(f"word{number}" for number in range(500)),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("corpus")
    with Corpus(folder / ".rag-app", encoder=encoder) as corpus:
        for name, text in TEXTS.items():
            (folder / f"{name}.txt").write_text(text)
        corpus.add([folder])
        yield Store(corpus.folder)


def values(segment: Segment) -> dict[str, Any]:
    """Everything in a segment whose stems are numbered as they come, in one order of stems."""
    arrays = dict(segment._arrays())
    found = {n: arrays[n].tolist() for n in ("document_rows", "passage_rows", "bounds")}
    found |= {n: arrays[f"{n}.vectors"].tolist() for n in ("document_vectors", "passage_vectors")}
    languages = segment.lexicon.languages
    found["language"] = [languages[number] for number in segment.language]
    stems = segment.lexicon.stems
    for name, postings in segment.postings.items():
        found[f"{name}.lengths"] = postings.lengths.tolist()
        for key, units, counts in zip(
            postings.keys.tolist(),
            np.split(postings.units, postings.bounds[1:-1]),
            np.split(postings.counts, postings.bounds[1:-1]),
            strict=True,
        ):
            pair = (stems[key >> 31], stems[key & ((1 << 31) - 1)])
            term = pair if name.endswith("_pairs") else stems[key]
            found[f"{name} {term}"] = units.tolist(), counts.tolist()
    for name in segment.speakers.names:
        found[f"speaker {name}"] = [each.tolist() for each in segment.speakers.passages_of(name)]
    return found


def test_loaded_is_what_was_saved(store: Store, tmp_path: Path) -> None:
    built = Segment.build(store)
    seal = built.save(tmp_path / "a")
    assert seal.fits(tmp_path / "a", whole=True) and seal.fits(tmp_path / "a")
    assert values(Segment.load(tmp_path / "a")) == values(built)
    assert built.documents == len(TEXTS) and built.passages == len(passage_rows(store))


@pytest.mark.parametrize("at", [0, 1, 0.3, 0.5, 0.9, -1])
def test_no_byte_can_mislead(at: float, store: Store, tmp_path: Path) -> None:
    seal = Segment.build(store).save(tmp_path / "a")
    data = bytearray((tmp_path / "a").read_bytes())
    data[int(at * len(data)) if 0 < at < 1 else int(at)] ^= 1
    (tmp_path / "a").write_bytes(data)
    assert not seal.fits(tmp_path / "a")
    (tmp_path / "a").write_bytes(data[: len(data) // 2])
    assert not seal.fits(tmp_path / "a")
    assert not seal.fits(tmp_path / "b")


@pytest.mark.parametrize("data", [b"", b"x", b"garbage" * 99])
def test_what_is_no_segment(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises((ValueError, OSError)):
        Segment.load(tmp_path / "a")
    write_arrays(tmp_path / "b", [("x", np.arange(3))])
    assert read_arrays(tmp_path / "b")["x"].tolist() == [0, 1, 2]
    with pytest.raises(KeyError):
        Segment.load(tmp_path / "b")


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(
    "parts",
    [[[1, 2, 3, 4, 5]], [[1], [2], [3], [4], [5]], [[5, 2], [1, 4], [3]], [[4, 5], [1, 2, 3]]],
)
def test_merged_is_built_at_once(
    parts: list[list[int]], small: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever segments documents are, and in whatever order; some terms at a time, too."""
    if small:
        monkeypatch.setattr(bm25_builder, "MERGE_SIZE", 60)
        for module in (bm25_builder, merging):
            monkeypatch.setattr(module, "SAMPLE_EVERY", 7)
            monkeypatch.setattr(module, "IN_MEMORY", 50)
    rows = [row for row, *_ in store.document_rows()]
    segments = [Segment.build(store, sorted(rows[n - 1] for n in each)) for each in parts]
    merged = merge([(one, ()) for one in segments], exact=False)
    assert merged is not None
    assert values(merged) == values(Segment.build(store))


def test_what_is_outdated_is_left_out(store: Store) -> None:
    rows = [row for row, *_ in store.document_rows()]
    first, second = Segment.build(store, rows[:3]), Segment.build(store, rows[2:])
    merged = merge([(first, rows[1:3]), (second, rows[4:])], exact=False)
    assert merged is not None
    assert values(merged) == values(Segment.build(store, [rows[0], *rows[2:4]]))
    assert merge([(first, rows[:3])], exact=False) is None


def test_a_snapshot_of_segments_is_that_of_one(store: Store) -> None:
    rows = [row for row, *_ in store.document_rows()]
    whole = Snapshot.build(store)
    parts = [([4, 1], [rows[4]]), ([0, 4], [rows[0]]), ([0, 2, 3], [])]
    several = Snapshot.of(
        (Segment.build(store, sorted(rows[n] for n in each)), dead) for each, dead in parts
    )
    for name in ("document_rows", "passage_rows", "bounds", "owner"):
        assert np.array_equal(getattr(whole, name), getattr(several, name)), name
    assert whole.lengths == several.lengths and whole.languages == several.languages
    queries = np.random.default_rng(0).standard_normal((3, 384)).astype(np.float32)
    every = np.arange(len(whole.owner))
    for name in ("document_vectors", "passage_vectors"):
        one, two = getattr(whole, name), getattr(several, name)
        assert same(one.products(queries), two.products(queries))
        assert same(one.at(every[: len(one)][::-1]), two.at(every[: len(one)][::-1]))
        assert same(one.inner_products(queries, every[:3]), two.inner_products(queries, every[:3]))
        allowed = np.arange(len(one)) % 2 == 0
        for limits in (None, allowed):
            (a, b), (c, d) = (each.search(queries, 4, allowed=limits) for each in (one, two))
            np.testing.assert_allclose(a, c, atol=1e-6)
            assert same(b, d)


def same(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> bool:
    return one.dtype == two.dtype and np.array_equal(one, two)


def test_what_is_due(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "SMALLEST", 1)
    rows = [row for row, *_ in store.document_rows()]
    one, long = Segment.build(store, rows[:1]), Segment.build(store, rows)

    def now(segments: Mapping[int, tuple[Segment, Sequence[int]]], **most: int) -> list[int]:
        return due(merging.passages_held(segments), **most)

    assert now(dict.fromkeys(range(7), (one, ())) | {7: (long, ())}) == []
    assert now(dict.fromkeys(range(8), (one, ())) | {8: (long, ())}) == [*range(8)]
    assert now({3: (long, rows[:1]), 4: (one, rows[:1])}) == [4]
    for count, some in ((8, 7), (16, 16)):  # a large merge waits until there are twice as many
        assert now(dict.fromkeys(range(count), (one, ())), most=some * one.passages)[:1] == (
            [] if count == 8 else [0]
        )


def test_what_came_later_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "AT_ONCE", 9)
    held = {1: (1, 0), 2: (7, 1), 3: (4, 0), 4: (2, 0), 5: (3, 0)}
    assert merging.later(held, than=1) == [4, 5, 3]  # 2 + 3 + 4 passages
    assert merging.later(held, than=4) == merging.later(held, than=5) == []
    assert merging.all_of_them(held) == [*held]
    assert merging.all_of_them({}) == merging.all_of_them({3: (4, 0)}) == []
    assert merging.all_of_them({2: (7, 1)}) == [2]


def test_a_merge_ends_between_its_steps(store: Store) -> None:
    rows = [row for row, *_ in store.document_rows()]
    parts = [(Segment.build(store, rows[:1]), ()), (Segment.build(store, rows[1:]), ())]
    steps = 0

    def wanted() -> bool:
        nonlocal steps
        steps += 1
        return steps < 4

    with pytest.raises(merging.Interrupted):
        merge(parts, exact=False, wanted=wanted)
    assert steps == 4
