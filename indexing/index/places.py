"""Where the documents or passages of a segment stand among all that are searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property

IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Places:
    """Positions of the units of a segment."""

    count: int  # how many units the segment has
    first: int  # position of the first, where all follow on it; else -1
    # (count,) int64 of each, ascending but for -1 where one is outdated; None where all follow
    positions: IntArray | None = None

    @classmethod
    def of(cls, positions: IntArray) -> Places:
        """From the position of each, -1 for what is outdated."""
        first = int(positions[0]) if len(positions) else 0
        follow = first >= 0 and np.array_equal(positions, np.arange(first, first + len(positions)))
        return cls(len(positions), first if follow else -1, None if follow else positions)

    @cached_property
    def live(self) -> Mask | None:
        """(count,) which units are not outdated; None where none is."""
        if self.positions is None or self.positions.min(initial=0) >= 0:
            return None
        return np.asarray(self.positions >= 0, np.bool_)

    def at(self, units: npt.NDArray[np.int32]) -> IntArray:
        """Positions of some units, -1 for what is outdated."""
        if self.positions is None:
            return units.astype(np.int64) + self.first
        return self.positions.take(units)

    def kept(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of values (..., count) those of units that are not outdated."""
        return values if self.live is None else values[..., self.live]

    def among(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Which of some positions are of these units, and of which unit each."""
        if self.positions is None:
            here = np.flatnonzero((positions >= self.first) & (positions < self.first + self.count))
            return here, positions[here] - self.first
        standing, units = self._standing
        at = np.searchsorted(standing, positions)
        inside = np.flatnonzero(at < len(standing))
        here = inside[standing[at[inside]] == positions[inside]]
        return here, units[at[here]]

    @property
    def live_count(self) -> int:
        """How many units are not outdated."""
        return self.count if self.live is None else int(self.live.sum())

    @property
    def where(self) -> slice | IntArray:
        """What the units stand at, in their order, without what is outdated."""
        if self.positions is None:
            return slice(self.first, self.first + self.count)
        return self._standing[0]

    @cached_property
    def _standing(self) -> tuple[IntArray, IntArray]:
        """Positions in ascending order, and of which unit each."""
        assert self.positions is not None
        units = np.flatnonzero(self.positions >= 0)
        return self.positions[units], units
