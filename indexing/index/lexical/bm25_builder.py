"""Words to postings, block by block, in memory that does not grow with the text.

A block is some millions of words of whole documents. Its occurrences are sorted and counted, and
from the second block on kept in files without a name, which vanish with the process. At the end
blocks are merged, some terms at a time. What stays in memory is one block, or some terms of all
blocks; large results are mapped from such files too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from indexing.index.lexical.postings import Postings
from indexing.text.vocabulary import pair_keys

IntArray = npt.NDArray[np.int64]
UnitArray = npt.NDArray[np.int32]

BLOCK = 1 << 22  # words
IN_MEMORY = 1 << 22  # postings; more are mapped from a file
MERGE_SIZE = 1 << 21  # postings, about, that are merged at a time
SAMPLE_EVERY = 1 << 14  # postings between two terms that a merge may begin at
SHIFT = 31  # of `pair_keys`


@dataclass(frozen=True, slots=True)
class Block:
    """The postings of one block: terms ascending, units ascending within a term."""

    terms: IntArray
    bounds: IntArray
    units: UnitArray
    counts: npt.NDArray[np.float32]

    @property
    def size(self) -> int:
        """Postings."""
        return len(self.units)

    def slice_terms(self, low: int, high: int) -> Block:
        """The postings of the terms from `low` on, and below `high`."""
        first, last = np.searchsorted(self.terms, (low, high))
        start, end = self.bounds[first], self.bounds[last]
        return Block(
            np.asarray(self.terms[first:last]),
            np.asarray(self.bounds[first : last + 1]) - start,
            np.asarray(self.units[start:end]),
            np.asarray(self.counts[start:end]),
        )

    def sample_terms(self) -> IntArray:
        """The terms of every SAMPLED-th posting."""
        at = np.arange(0, len(self.units), SAMPLE_EVERY)
        return np.asarray(self.terms[np.searchsorted(self.bounds, at, side="right") - 1])


@dataclass(slots=True)
class Bm25Builder:
    """Occurrences of terms, a block at a time; units ascend, and none is in two blocks."""

    blocks: list[Block] = field(default_factory=list)
    lengths: list[IntArray] = field(default_factory=list)
    first_units: list[int] = field(default_factory=list)

    def add(self, keys: IntArray, units: UnitArray) -> None:
        """A block: keys (n,) and the unit (n,) each stands in, ascending."""
        if not len(keys):
            return
        first = int(units[0])
        keys, local = _sort(keys, units - np.int32(first))
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]) | (local[1:] != local[:-1])
        firsts = np.flatnonzero(new)
        counts = np.diff(np.append(firsts, len(keys))).astype(np.float32)
        self.lengths.append(np.bincount(local))
        self.first_units.append(first)
        keys, local = keys[firsts], local[firsts]
        terms, starts = np.unique(keys, return_index=True)
        bounds = np.append(starts, len(keys)).astype(np.int64)
        ascending = (local + first).astype(np.int32)
        if self.blocks:
            terms, bounds = to_mmap(terms), to_mmap(bounds)
            ascending, counts = to_mmap(ascending), to_mmap(counts)
        self.blocks.append(Block(terms, bounds, ascending, counts))

    def postings(self, size: int) -> Postings:
        """All blocks as one index, over so many units."""
        return merged(self.blocks, self.unit_lengths(size))

    def unit_lengths(self, size: int) -> npt.NDArray[np.float32]:
        """(units,) terms in each of so many units."""
        whole = np.zeros(size, np.int64)
        for first, lengths in zip(self.first_units, self.lengths, strict=True):
            whole[first : first + len(lengths)] += lengths
        return whole.astype(np.float32)


class AnyBlock(Protocol):
    """What can be merged, some terms at a time."""

    @property
    def terms(self) -> IntArray:
        """(terms,) ascending."""

    @property
    def size(self) -> int:
        """Postings, at most."""

    def slice_terms(self, low: int, high: int) -> Block:
        """The postings of the terms from `low` on, and below `high`; of each term one at least."""

    def sample_terms(self) -> IntArray:
        """The terms of every SAMPLE_EVERY-th posting."""


def merged(
    blocks: Sequence[AnyBlock],  # what is merged
    lengths: npt.NDArray[np.float32],  # (units,) terms in each
    *,
    step: Callable[[], None] = lambda: None,  # called before each part of it
) -> Postings:
    """All blocks as one index, over units of these lengths; no unit is in two."""
    most_terms = sum(len(block.terms) for block in blocks)
    most = sum(block.size for block in blocks)
    terms, bounds = _empty(most_terms, np.int64), _empty(most_terms + 1, np.int64)
    units, counts = _empty(most, np.int32), _empty(most, np.float32)
    used_terms = used = 0
    for low, high in pairwise(_merge_bounds(blocks)):
        step()
        some = _merge([block.slice_terms(low, high) for block in blocks])
        next_terms, next_used = used_terms + len(some.terms), used + len(some.units)
        terms[used_terms:next_terms] = some.terms
        bounds[used_terms:next_terms] = some.bounds[:-1] + used
        units[used:next_used] = some.units
        counts[used:next_used] = some.counts
        used_terms, used = next_terms, next_used
    bounds[used_terms] = used
    return Postings(
        terms[:used_terms], bounds[: used_terms + 1], units[:used], counts[:used], lengths
    )


def _merge_bounds(blocks: Sequence[AnyBlock]) -> Iterator[int]:
    """Terms that parts of about MERGE_SIZE postings begin at, ascending, and one above all."""
    blocks = [block for block in blocks if len(block.terms)]
    if not blocks:
        return
    lowest = min(int(block.terms[0]) for block in blocks)
    sampled = np.sort(np.concatenate([block.sample_terms() for block in blocks]))
    inner = sampled[MERGE_SIZE // SAMPLE_EVERY :: MERGE_SIZE // SAMPLE_EVERY]
    yield lowest
    yield from np.unique(inner[inner > lowest]).tolist()
    yield max(int(block.terms[-1]) for block in blocks) + 1


@dataclass(slots=True)
class LexicalIndexBuilder:
    """The stems of a corpus, passage by passage, into the postings of a segment."""

    passages: Bm25Builder = field(default_factory=Bm25Builder)
    passage_pairs: Bm25Builder = field(default_factory=Bm25Builder)
    documents: Bm25Builder = field(default_factory=Bm25Builder)
    document_pairs: Bm25Builder = field(default_factory=Bm25Builder)
    function_words: Bm25Builder = field(default_factory=Bm25Builder)

    def add(
        self,
        stems: IntArray,  # (n,) numbers of stems
        passage: UnitArray,  # (n,) the passage each stands in, ascending
        document: UnitArray,  # (n,) the document each stands in, ascending
        # (stems known,) which are function words; they count in pairs only
        is_function: npt.NDArray[np.bool_],
    ) -> None:
        """A block of whole documents."""
        content = ~is_function[stems]
        self.passages.add(stems[content], passage[content])
        self.documents.add(stems[content], document[content])
        self.function_words.add(stems[~content], document[~content])
        pairs = pair_keys(stems[:-1], stems[1:])
        beside, within = passage[:-1] == passage[1:], document[:-1] == document[1:]
        self.passage_pairs.add(pairs[beside], passage[:-1][beside])
        self.document_pairs.add(pairs[within], document[:-1][within])

    def postings(self, passages: int, documents: int) -> dict[str, Postings]:
        """By the names that a segment has for them; so many passages and documents in all."""
        return {
            "passages": self.passages.postings(passages),
            "passage_pairs": self.passage_pairs.postings(passages),
            "documents": self.documents.postings(documents),
            "document_pairs": self.document_pairs.postings(documents),
            "function_words": self.function_words.postings(documents),
        }


def empty_vectors(rows: int, dimension: int, *, in_memory: bool) -> npt.NDArray[np.float32]:
    """(rows, dimension) float32 to be filled, in memory or in a file without a name."""
    shape = (rows, dimension)
    return np.empty(shape, np.float32) if in_memory else _mmap_file(shape, np.float32)


def _sort(keys: IntArray, units: UnitArray) -> tuple[IntArray, UnitArray]:
    """By key, then by unit. Both in one number where they fit: that sorts ten times as fast."""
    first, second = keys >> SHIFT, keys & ((1 << SHIFT) - 1)
    low, bits = int(second.max()).bit_length(), int(units[-1]).bit_length()
    if int(first.max()).bit_length() + low + bits > 63 or int(keys.min()) < 0:
        order = np.argsort(keys, kind="stable")
        return keys[order], units[order]
    packed = np.sort(((first << low | second) << bits) | units)
    joint = packed >> bits
    keys = (joint >> low) << SHIFT | (joint & ((1 << low) - 1))
    return keys, (packed & ((1 << bits) - 1)).astype(np.int32)


def _merge(blocks: list[Block]) -> Block:
    """One block of several."""
    terms = np.sort(np.concatenate([block.terms for block in blocks]))
    first = np.append(True, terms[1:] != terms[:-1])[: len(terms)]  # np.unique hashes: slower
    terms = terms[first]
    places = [np.searchsorted(terms, block.terms) for block in blocks]
    frequency = np.zeros(len(terms), np.int64)
    for block, at in zip(blocks, places, strict=True):
        frequency[at] += np.diff(block.bounds)
    bounds = np.append(0, np.cumsum(frequency)).astype(np.int64)
    units, counts = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.float32)
    next_free = bounds[:-1].copy()
    for block, at in zip(blocks, places, strict=True):
        share = np.diff(block.bounds)
        to = np.repeat(next_free[at] - block.bounds[:-1], share) + np.arange(len(block.units))
        units[to], counts[to] = block.units, block.counts
        next_free[at] += share
    steps = np.diff(units) <= 0
    steps[bounds[1:-1] - 1] = False
    if steps.any():  # documents that came in another order than their rows
        order = np.lexsort((units, np.repeat(np.arange(len(terms)), frequency)))
        units, counts = units[order], counts[order]
    return Block(terms, bounds, units, counts)


def _empty(count: int, dtype: type[Any]) -> npt.NDArray[Any]:
    return np.empty(count, dtype) if count <= IN_MEMORY else _mmap_file((count,), dtype)


def to_mmap(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same values in a file without a name."""
    mapped = _mmap_file(values.shape, values.dtype.type)
    mapped[...] = values
    return mapped


def _mmap_file(shape: tuple[int, ...], dtype: type[Any]) -> npt.NDArray[Any]:
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, mode="w+", shape=shape)
