"""How likely a topic begins at a block: features of the text before and after it.

Lexical cohesion (Hearst, "TextTiling", Computational Linguistics 1997) and the similarity of the
stored vectors compare windows on either side; as in Galley et al. ("Discourse segmentation of
multi-party conversation", ACL 2003) there are cue words beside them, and who speaks how long. The
weights are those of a logistic regression on every second meeting of QMSum's training split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Vectors
from generator.overview.blocks import Block
from indexing.cached_property import cached_property
from indexing.documents import Passage
from indexing.text.terms import words

Array = NDArray[np.float64]
Unit = Sequence[Block]

WEIGHTS = {
    "words": 0.57,  # of the unit, log(1 + words)
    "longest": 0.37,  # the same of the longest of it and the next three
    "vectors, 250 words": -1.61,  # cosine of the mean vectors of so many words on either side
    "vectors, 1500 words": -1.29,
    "stems, 100 words": -2.67,  # cosine of the counts of stems on either side
    "stems, 1500 words": -2.32,
    "new stems": 8.87,  # in the next hundred words, less those in the hundred before, a word
    "first speaker": 0.27,  # whoever opens a meeting usually chairs it
    "opening": -0.96,  # 1 at the start of the document, halved every 139 words
    "closing": 0.34,  # 1 at its end
    "heading": 1.5,  # not fitted: meetings have none
}
CUES = {
    "questions": 2.2, "presentation": 2.1, "next": 1.6, "now": 1.4, "first": 1.2, "move": 1.2,
    "let's": 1.15, "okay": 0.95, "thank": 0.7, "um": 0.55, "question": 0.4, "so": 0.25,
}  # fmt: skip
"""Words that topics begin with, when they are among the first eight."""

INTERCEPT = -6.46

_CUE_REACH = 8  # words
_MOST_STEMS = 1_500  # the most frequent; beyond, a stem is rare and says little of cohesion
_CHUNK = 150  # words of the texts that rarity (idf) is counted over


@dataclass(frozen=True)
class _Sums:
    """What stands before each place, so that any window is a difference of two rows."""

    places: Array  # (n,) word offsets, ascending
    sums: Array  # (n, d) of all rows before each place

    def before(self, at: Array) -> Array:
        """(m, d) sums up to word offsets (m,), interpolated between places."""
        index = np.clip(np.searchsorted(self.places, at, side="right") - 1, 0, len(self.places) - 2)
        gap = np.maximum(self.places[index + 1] - self.places[index], 1e-9)
        share = np.clip((at - self.places[index]) / gap, 0, 1)[:, None]
        between: Array = self.sums[index] * (1 - share) + self.sums[index + 1] * share
        return between

    def around(self, at: Array, reach: float) -> tuple[Array, Array]:
        """(m, d) sums of `reach` words before each offset, and after it."""
        here = self.before(at)
        after = self.before(np.minimum(at + reach, self.places[-1])) - here
        return here - self.before(np.maximum(at - reach, 0)), after


class BorderFeatures:
    """Features of the places between units; vectors are (passages, d), of length 1."""

    def __init__(
        self, units: Sequence[Unit], passages: Sequence[Passage], vectors: Vectors
    ) -> None:
        self._units, self._passages, self._vectors = units, passages, vectors
        counts = [sum(block.words for block in unit) for unit in units]
        self.lengths: Array = np.array(counts, np.float64)
        """(units,) words."""
        self.places: Array = np.concatenate([[0.0], np.cumsum(self.lengths)])
        """(units + 1,) word offsets of the units, and of the end."""

    def log_odds(self) -> Array:
        """(units,) of a topic to begin with each."""
        values = self.values()
        total = np.full(len(self._units), INTERCEPT)
        for name, weight in WEIGHTS.items():
            total += weight * values[name]
        return total + self._cues()

    def values(self) -> dict[str, Array]:
        """(units,) of each feature but the cues."""
        at, end = self.places[:-1], self.places[-1]
        sizes = np.log1p(self.lengths)
        opener = self._units[0][0].speaker
        return {
            "words": sizes,
            "longest": np.array([sizes[i : i + 4].max() for i in range(len(sizes))]),
            "vectors, 250 words": _cosine(*self.dense.around(at, 250)),
            "vectors, 1500 words": _cosine(*self.dense.around(at, 1500)),
            "stems, 100 words": self._cohesion(100),
            "stems, 1500 words": self._cohesion(1500),
            "new stems": self._new_stems(100),
            "first speaker": self._each(
                lambda unit: opener is not None and unit[0].speaker == opener
            ),
            "opening": np.exp(-at / 200),
            "closing": np.exp(-(end - at) / 200),
            "heading": self._each(lambda unit: unit[0].heading),
        }

    @cached_property
    def dense(self) -> _Sums:
        """Vectors less their mean over the document, summed over its words."""
        starts = np.array([unit[0].start for unit in self._units] + [self._units[-1][-1].end])
        bounds = [passage.start for passage in self._passages] + [starts[-1]]
        places = np.interp(bounds, starts, self.places)
        lengths = np.diff(places)
        mean = np.average(self._vectors, axis=0, weights=lengths + 1e-9)
        rows = (self._vectors - mean) * lengths[:, None]
        return _Sums(places, _running(rows))

    @cached_property
    def _stems(self) -> tuple[_Sums, Array]:
        """Counts of stems weighted by rarity, summed; and (units,) how many are there first."""
        counts = [
            Counter(
                each for block in unit for statement in block.statements for each in statement.stems
            )
            for unit in self._units
        ]
        total: Counter[str] = sum(counts, Counter())
        known = [each for each, count in total.most_common(_MOST_STEMS) if count > 1]
        column = {each: number for number, each in enumerate(known)}
        rows = np.zeros((len(counts), max(len(known), 1)))
        seen, new = set[str](), np.zeros(len(counts))
        for number, count in enumerate(counts):
            own = count.keys() & column.keys()
            rows[number, [column[each] for each in own]] = [count[each] for each in own]
            new[number] = len(own - seen)
            seen |= own
        return _Sums(self.places, _running(rows * self._rarity(rows))), new

    def _rarity(self, rows: Array) -> Array:
        """(stems,) idf over texts of `_CHUNK` words."""
        chunk = (self.places[:-1] // _CHUNK).astype(np.int64)
        firsts = np.flatnonzero(np.diff(chunk, prepend=-1))
        frequency = (np.add.reduceat(rows, firsts, axis=0) > 0).sum(axis=0)
        idf: Array = np.log((2 + chunk[-1]) / (1 + frequency))
        return idf

    def _cohesion(self, reach: int) -> Array:
        before, after = self._stems[0].around(self.places[:-1], reach)
        return _cosine(np.sqrt(np.maximum(before, 0)), np.sqrt(np.maximum(after, 0)))

    def _new_stems(self, reach: int) -> Array:
        sums = _Sums(self.places, _running(self._stems[1][:, None]))
        before, after = sums.around(self.places[:-1], reach)
        return np.asarray((after - before)[:, 0] / reach, np.float64)

    def _cues(self) -> Array:
        """(units,) the weights of the cue words that each begins with, summed."""
        return np.array([sum(CUES[each] for each in _first_words(unit)) for unit in self._units])

    def _each(self, holds: Callable[[Unit], bool]) -> Array:
        return np.array([holds(unit) for unit in self._units], np.float64)


def _first_words(unit: Unit) -> set[str]:
    opening = " ".join(each.sentence.text for each in unit[0].statements[:3])
    return set(words(opening[:400])[:_CUE_REACH]) & CUES.keys()


def _running(rows: Array) -> Array:
    """(n + 1, d) sums of the rows before each."""
    return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])


def _cosine(a: Array, b: Array) -> Array:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray((a * b).sum(axis=1) / np.maximum(lengths, 1e-12), np.float64)
