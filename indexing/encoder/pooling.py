"""Token states of overlapping windows into passage vectors: late chunking.

A passage's vector is the mean of its tokens' states, which have seen the window around them
(Günther et al., arXiv 2409.04701). A token that lies in two windows counts half from each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.documents import Passage

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """The vectors of one document."""

    vector: FloatArray  # (d,) float32, unit length
    # (passages, d) float32; unit rows, or zero rows for passages past a truncation
    passages: FloatArray
    tokens: int  # tokens of the whole text
    encoded: int  # tokens that went through the model; less than `tokens` only under "none"


IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PassagePooling:
    """Sums of token states (h,) over the p passages of one document, window by window."""

    spans: IntArray  # (p, 2) first token of each passage, and one past its last
    share: FloatArray  # (tokens,) one over the number of windows that hold a token
    sums: FloatArray  # (p, h) sums of token states, each times its share
    weights: FloatArray  # (p,) sums of those shares

    @classmethod
    def over(
        cls, spans: IntArray, windows: Sequence[tuple[int, int]], width: int
    ) -> PassagePooling:
        """Nothing summed yet, of the passages with these tokens, over windows (start, end)."""
        windows_over = np.zeros(max(end for _, end in windows), np.float32)
        for start, end in windows:
            windows_over[start:end] += 1
        return cls(
            spans=spans,
            share=np.divide(1, windows_over, dtype=np.float32),
            sums=np.zeros((len(spans), width), np.float32),
            weights=np.zeros(len(spans), np.float32),
        )

    def add(self, start: int, states: FloatArray) -> None:
        """Add the token states (n, h) of one window, the first being token `start`."""
        end = start + len(states)
        first = int(np.searchsorted(self.spans[:, 1], start, side="right"))
        last = int(np.searchsorted(self.spans[:, 0], end))
        for p in range(first, last):
            a, b = max(int(self.spans[p, 0]), start), min(int(self.spans[p, 1]), end)
            if a < b:
                share = self.share[a:b]
                self.sums[p] += share @ states[a - start : b - start]
                self.weights[p] += share.sum()

    def means(self) -> FloatArray:
        """(p, h) mean states; a zero row for a passage none of whose tokens was in a window."""
        weights = np.maximum(self.weights, np.float32(1e-9))
        return np.divide(self.sums, weights[:, None], dtype=np.float32)


def token_spans(offsets: IntArray, passages: Sequence[Passage]) -> IntArray:
    """(passages, 2): the tokens of each passage, all that share a character with it."""
    starts = np.searchsorted(offsets[:, 1], [p.start for p in passages], side="right")
    ends = np.searchsorted(offsets[:, 0], [p.end for p in passages])
    return np.stack([starts, np.maximum(starts, ends)], axis=1).astype(np.int64)


def unit(rows: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """Rows divided by their L2 norms; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), np.float32)
