"""Zero padding: passages in a row, with empty places between documents.

A sum over a window of neighbours then sees nothing of the documents before and behind, without
looking where these begin: it is a sum of the row and of itself, shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

REACH = 3  # passages on either side, at most: so many places are empty behind each document
CHUNK = 32768  # places, about, that are walked along at once: they stay in a core's cache


@dataclass(frozen=True)
class Padding:
    """Where the passages of a corpus stand in a row with empty places."""

    starts: IntArray  # (documents,) place of each document's first passage
    places: npt.NDArray[np.int32]  # (passages,) int32 of each passage
    size: int  # all places; the first and the last REACH are empty

    @classmethod
    def of(cls, starts: IntArray, passages: int) -> Padding:
        """For so many passages in the order of their documents, which begin at `starts`."""
        shift = REACH * np.arange(1, len(starts) + 1)
        lengths = np.diff(starts, append=passages)
        places = np.repeat(shift.astype(np.int32), lengths)
        places += np.arange(passages, dtype=np.int32)
        return cls(starts + shift, places, passages + REACH * (len(starts) + 1))

    def row(self, scores: FloatArray) -> FloatArray:
        """(size,) scores (passages,) in their places."""
        row = np.zeros(self.size, np.float32)
        if len(scores) and (scores.min() < 0 or scores.max() > 0):  # quicker than `any`
            row[self.places] = scores
        return row

    def window_sums(self, scores: FloatArray, reach: int) -> FloatArray:
        """(passages,) sums of each score and so many neighbours on either side of it."""
        row = np.zeros(self.size, np.float32)
        row[self.places] = scores
        return window_sums(row, 2 * reach + 1)[self.places - reach]

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All documents, some CHUNK places at a time."""
        return tuple(self._chunks())

    def _chunks(self) -> Iterator[Chunk]:
        ends = np.append(self.starts[1:], self.size)
        first = 0
        while first < len(self.starts):
            start = int(self.starts[first])
            last = max(int(np.searchsorted(ends, start + CHUNK, side="right")), first + 1)
            end = int(ends[last - 1]) - REACH
            yield Chunk(slice(first, last), start, end, self.starts[first:last] - start)
            first = last

    def best(
        self, row: FloatArray, reach: int, *, counting: FloatArray | None = None
    ) -> FloatArray:
        """(documents,) the highest sum of a passage of each and so many neighbours on either side.

        Args:
            row: (size,) scores, 0 or more, and 0 in empty places.
            reach: How many neighbours.
            counting: (size,) 1 in the place of each passage that counts, else 0; None for all.
        """
        found = np.empty(len(self.starts), np.float32)
        for chunk in self.chunks:
            found[chunk.documents] = chunk.best(row, reach, counting)
        return found


@dataclass(frozen=True)
class Chunk:
    """Some documents that follow on each other, with their places."""

    documents: slice
    start: int  # their first place
    end: int  # behind their last passage
    starts: IntArray  # (c,) where each document begins among these places

    def window_sums(self, row: FloatArray, reach: int) -> FloatArray:
        """(places,) of a row (size,) the sum of so many neighbours on either side and itself."""
        around = row[self.start - reach : self.end + reach]
        return window_sums(around, 2 * reach + 1)

    def best(self, row: FloatArray, reach: int, counting: FloatArray | None) -> FloatArray:
        """(c,) the highest of each document's sums, as `Padding.best`.

        A window around an empty place beside a document holds no more than the window around its
        first passage, or its last. So these need not be left out, but each of them must count for
        the document that it touches: they touch one alone, as twice their reach is empty.
        """
        assert 2 * reach <= REACH, "windows of one place would touch two documents"
        sums = self.window_sums(row, reach) if reach else row[self.start : self.end]
        if counting is not None:
            sums = sums * counting[self.start : self.end]
        return np.maximum.reduceat(sums, np.maximum(self.starts - reach, 0))


def window_sums(values: FloatArray, width: int) -> FloatArray:
    """(n - width + 1,) of (n,) values, so many in a row (odd): windows of 1, 2, 4 ... together."""
    count, done = len(values) - width + 1, 1
    total = values[:count].copy()
    windows, size = values, 1
    while done < width:
        windows, size = windows[:-size] + windows[size:], 2 * size
        if width & size:
            total += windows[done : done + count]
            done += size
    return total
