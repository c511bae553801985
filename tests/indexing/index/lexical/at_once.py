"""BM25 of occurrences that are all at hand: what postings made block by block are compared with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexing.index.lexical.bm25 import (
    K1,
    B,
    Bm25Index,
    idf,
    mean_length_of,
    norms,
    term_weights,
)

IntArray = npt.NDArray[np.int64]


def mean_length(lengths: npt.NDArray[np.float32]) -> float:
    return mean_length_of(int(lengths.sum(dtype=np.float64)), len(lengths))


def bm25_at_once(
    keys: IntArray, units: npt.NDArray[np.int32], size: int, *, k1: float = K1, b: float = B
) -> Bm25Index:
    """From term occurrences: keys (n,) and the unit (n,) each stands in."""
    order = np.lexsort((units, keys))
    keys, units = keys[order], units[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (units[1:] != units[:-1])
    firsts = np.flatnonzero(new)
    counts = np.diff(np.append(firsts, len(keys))).astype(np.float32)
    lengths = np.bincount(units, minlength=size).astype(np.float32)
    norm = norms(lengths, mean_length(lengths), k1=k1, b=b)
    keys, units = keys[firsts], units[firsts]
    terms, starts = np.unique(keys, return_index=True)
    bounds = np.append(starts, len(keys)).astype(np.int64)
    rarity = np.repeat(idf(np.diff(bounds), size), np.diff(bounds))
    weights = term_weights(rarity, counts, norm[units], k1=k1)
    return Bm25Index(terms, bounds, units.astype(np.int32), weights, size)
