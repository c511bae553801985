"""Words to postings, block by block, in memory that does not grow with the text.

A block is some millions of words of whole documents. Its occurrences are sorted and counted, and
from the second block on kept in files without a name, which vanish with the process. At the end
each term's postings are put side by side. What stays in memory is one block and a few numbers a
term; large results are mapped from such files too.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.lexicon import pair_keys
from indexing.postings import K1, B, Postings, idf, norms

IntArray = npt.NDArray[np.int64]
UnitArray = npt.NDArray[np.int32]

BLOCK = 1 << 22  # words
IN_MEMORY = 1 << 24  # postings; more are mapped from a file
SHIFT = 31  # of `pair_keys`


@dataclass(frozen=True, slots=True)
class _Block:
    """The postings of one block: terms ascending, units ascending within a term."""

    terms: IntArray
    bounds: IntArray
    units: UnitArray
    counts: npt.NDArray[np.float32]


@dataclass(slots=True)
class Inversion:
    """Occurrences of terms, a block at a time; units ascend, and none is in two blocks."""

    blocks: list[_Block] = field(default_factory=list)
    lengths: list[IntArray] = field(default_factory=list)
    first_units: list[int] = field(default_factory=list)

    def add(self, keys: IntArray, units: UnitArray) -> None:
        """A block: keys (n,) and the unit (n,) each stands in, ascending."""
        if not len(keys):
            return
        first = int(units[0])
        keys, local = _sorted(keys, units - np.int32(first))
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]) | (local[1:] != local[:-1])
        firsts = np.flatnonzero(new)
        counts = np.diff(np.append(firsts, len(keys))).astype(np.float32)
        self.lengths.append(np.bincount(local))
        self.first_units.append(first)
        keys, local = keys[firsts], local[firsts]
        terms, starts = np.unique(keys, return_index=True)
        bounds = np.append(starts, len(keys)).astype(np.int64)
        found = (local + first).astype(np.int32)
        if self.blocks:
            found, counts = _mapped(found), _mapped(counts)
        self.blocks.append(_Block(terms, bounds, found, counts))

    def postings(self, size: int, *, k1: float = K1, b: float = B) -> Postings:
        """BM25 weights over so many units, as `Postings.build` gives them for all at once."""
        none = np.zeros(0, np.int64)
        terms = np.unique(np.concatenate([none, *(block.terms for block in self.blocks)]))
        places = [np.searchsorted(terms, block.terms) for block in self.blocks]
        frequency = np.zeros(len(terms), np.int64)
        for block, at in zip(self.blocks, places, strict=True):
            frequency[at] += np.diff(block.bounds)
        bounds = np.append(0, np.cumsum(frequency)).astype(np.int64)
        rarity, norm = idf(frequency, size), norms(self._lengths(size), k1=k1, b=b)
        units = _empty(int(bounds[-1]), np.int32)
        weights = _empty(int(bounds[-1]), np.float32)
        next_free = bounds[:-1].copy()
        for block, at in zip(self.blocks, places, strict=True):
            share = np.diff(block.bounds)
            to = np.repeat(next_free[at] - block.bounds[:-1], share) + np.arange(len(block.units))
            counts = np.asarray(block.counts)
            units[to] = block.units
            rare = np.repeat(rarity[at], share)
            weights[to] = rare * counts * (k1 + 1) / (counts + norm[block.units])
            next_free[at] += share
        return Postings(terms, bounds, units, weights, size)

    def _lengths(self, size: int) -> npt.NDArray[np.float32]:
        whole = np.zeros(size, np.int64)
        for first, lengths in zip(self.first_units, self.lengths, strict=True):
            whole[first : first + len(lengths)] += lengths
        return whole.astype(np.float32)


@dataclass(slots=True)
class Words:
    """The stems of a corpus, passage by passage, into the four indexes of a snapshot."""

    passages: Inversion = field(default_factory=Inversion)
    passage_pairs: Inversion = field(default_factory=Inversion)
    documents: Inversion = field(default_factory=Inversion)
    document_pairs: Inversion = field(default_factory=Inversion)

    def add(
        self,
        stems: IntArray,
        passage: UnitArray,
        document: UnitArray,
        is_function: npt.NDArray[np.bool_],
    ) -> None:
        """A block of whole documents.

        Args:
            stems: (n,) numbers of stems.
            passage: (n,) the passage each stands in, ascending.
            document: (n,) the document each stands in, ascending.
            is_function: (stems known,) which are function words; they count in pairs only.
        """
        content = ~is_function[stems]
        self.passages.add(stems[content], passage[content])
        self.documents.add(stems[content], document[content])
        pairs = pair_keys(stems[:-1], stems[1:])
        beside, within = passage[:-1] == passage[1:], document[:-1] == document[1:]
        self.passage_pairs.add(pairs[beside], passage[:-1][beside])
        self.document_pairs.add(pairs[within], document[:-1][within])

    def postings(self, passages: int, documents: int) -> dict[str, Postings]:
        """By the names that a snapshot has for them; so many passages and documents in all."""
        return {
            "passages": self.passages.postings(passages),
            "passage_pairs": self.passage_pairs.postings(passages),
            "documents": self.documents.postings(documents),
            "document_pairs": self.document_pairs.postings(documents),
        }


def empty_vectors(rows: int, dimension: int, *, in_memory: bool) -> npt.NDArray[np.float32]:
    """(rows, dimension) float32 to be filled, in memory or in a file without a name."""
    shape = (rows, dimension)
    return np.empty(shape, np.float32) if in_memory else _file(shape, np.float32)


def _sorted(keys: IntArray, units: UnitArray) -> tuple[IntArray, UnitArray]:
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


def _empty(count: int, dtype: type[Any]) -> npt.NDArray[Any]:
    return np.empty(count, dtype) if count <= IN_MEMORY else _file((count,), dtype)


def _mapped(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same values in a file without a name."""
    kept = _file(values.shape, values.dtype.type)
    kept[...] = values
    return kept


def _file(shape: tuple[int, ...], dtype: type[Any]) -> npt.NDArray[Any]:
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, mode="w+", shape=shape)
