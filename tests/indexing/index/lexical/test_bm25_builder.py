"""Postings made block by block are those made at once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from indexing.encoder.encoder import Encoder
from indexing.index import segment
from indexing.index.lexical import bm25_builder as inversion
from indexing.index.lexical.bm25 import idf, norms, term_weights
from indexing.index.lexical.bm25_builder import Bm25Builder
from indexing.index.segment import Segment
from indexing.store.store import Store
from indexing.text.vocabulary import pair_keys
from rag_app.corpus.corpus import Corpus
from tests.indexing.index.lexical.at_once import bm25_at_once, mean_length

PARTS = ("keys", "bounds", "units", "counts", "lengths")


def occurrences(
    count: int, *, terms: int, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Terms and ascending units, some of which hold none."""
    draw = np.random.default_rng(seed)
    units = np.sort(draw.choice(np.arange(0, 3 * count // 40, 2), count)).astype(np.int32)
    return draw.zipf(1.2, count) % terms, units


@pytest.mark.parametrize("shift", [0, 1 << 20, 1 << 30])
@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_make_no_difference(
    shift: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Single terms and pairs; numbers that fit into one for sorting, and others; all to the bit."""
    monkeypatch.setattr(inversion, "IN_MEMORY", 1000 if blocks == 7 else 1 << 20)
    if blocks > 1:
        monkeypatch.setattr(inversion, "MERGE_SIZE", 300)
        monkeypatch.setattr(inversion, "SAMPLE_EVERY", 7)
    terms, units = occurrences(6000, terms=500, seed=blocks)
    keys = pair_keys(terms + shift, terms[::-1] + shift) if shift else terms
    size = int(units[-1]) + 5
    edges = [len(units) * number // blocks for number in range(blocks)]
    edges = [int(np.searchsorted(units, units[edge])) for edge in edges] + [len(units)]
    made = Bm25Builder()
    for first, last in pairwise(edges):
        made.add(keys[first:last], units[first:last])
    expected, found = bm25_at_once(keys, units, size), made.postings(size)
    for part in PARTS[:3]:
        one, two = getattr(expected, part), getattr(found, part)
        assert one.dtype == two.dtype
        assert np.array_equal(one, two), part
    rarity = idf(np.diff(found.bounds), size)
    norm = norms(found.lengths, mean_length(found.lengths))[found.units]
    weights = term_weights(np.repeat(rarity, np.diff(found.bounds)), found.counts, norm)
    assert np.array_equal(weights, expected.weights)
    assert isinstance(found.units.base, np.memmap) == (blocks == 7)


@pytest.mark.parametrize("size", [0, 3])
def test_no_words(size: int) -> None:
    made = Bm25Builder()
    made.add(np.zeros(0, np.int64), np.zeros(0, np.int32))
    empty = made.postings(size)
    assert empty.size == size and empty.total_length == 0
    assert [len(units) for units, _ in empty.of(np.array([1, 2]))] == [0, 0]


def test_a_segment_in_blocks_is_the_segment(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        for name in ("one", "two", "three"):
            corpus.add_text(f"A {name} fell. " + f"{name} again and again. " * 120, name=name)
    store = Store(tmp_path)
    whole = Segment.build(store)
    monkeypatch.setattr(segment, "BLOCK", 1)
    seen: list[tuple[int, int]] = []
    parts = Segment.build(store, progress=lambda *counts: seen.append(counts))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert parts.lexicon.stems == whole.lexicon.stems
    for name, expected in whole.postings.items():
        for part in PARTS:
            one, two = (getattr(each, part) for each in (expected, parts.postings[name]))
            assert np.array_equal(one, two)
