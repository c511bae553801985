"""TextTiling by the comparison of blocks (Hearst, Computational Linguistics 1997), as a baseline.

Tokens are cut into sequences of w; stop words count for their length and not for their likeness.
At every gap between sequences, the k on either side are compared by the cosine of their stems'
frequencies; the scores are smoothed, and a gap's depth is how far it lies below the peaks on either
side. Gaps deeper than mean less half a deviation become borders, deepest first, three sequences
apart at least, and move to the nearest break of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.text.english import STOP_WORDS
from indexing.text.terms import stem, words

Array = npt.NDArray[np.float64]

APART = 3  # sequences between two borders, at least


@dataclass(frozen=True, slots=True)
class TextTiling:
    """Its parameters, as published.

    Attributes:
        w: Tokens of a sequence.
        k: Sequences of a block.
        smoothing: s: gaps on both sides together whose scores are averaged in; even.
        cutoff: c: a border is deeper than the mean of the depths less c deviations.
    """

    w: int = 20
    k: int = 10
    smoothing: int = 2
    cutoff: float = 0.5

    def borders(self, units: Sequence[str]) -> list[int]:
        """Units at which a segment begins, ascending, without the first.

        Args:
            units: Utterances or paragraphs: a border stands before one of them.
        """
        tokens = [words(unit) for unit in units]
        flat = [token for unit in tokens for token in unit]
        starts = np.cumsum([0, *map(len, tokens)])[:-1]
        gaps = self.gaps(depths(smooth(self.scores(flat), self.smoothing)))
        nearest = {int(np.argmin(np.abs(starts - (gap + 1) * self.w))) for gap in gaps}
        return sorted(nearest - {0})

    def scores(self, tokens: Sequence[str]) -> Array:
        """(gaps,) the similarity of the blocks before and after each gap between sequences."""
        sequences = [
            Counter(stem(token) for token in tokens[at : at + self.w] if token not in STOP_WORDS)
            for at in range(0, len(tokens), self.w)
        ]
        return np.array(
            [
                _cosine(
                    sum(sequences[max(gap - self.k, 0) : gap], Counter()),
                    sum(sequences[gap : gap + self.k], Counter()),
                )
                for gap in range(1, len(sequences))
            ],
            np.float64,
        )

    def gaps(self, depth: Array) -> list[int]:
        """The gaps that become borders."""
        if not len(depth):
            return []
        least = depth.mean() - self.cutoff * depth.std()
        selection: list[int] = []
        for gap in map(int, np.argsort(-depth, kind="stable")):
            if depth[gap] <= max(least, 0):
                break
            if all(abs(gap - other) >= APART for other in selection):
                selection.append(gap)
        return sorted(selection)


def smooth(scores: Array, width: int) -> Array:
    """Each score averaged with `width` / 2 neighbours on either side, as far as there are any."""
    reach = width // 2
    return np.array(
        [scores[max(at - reach, 0) : at + reach + 1].mean() for at in range(len(scores))],
        np.float64,
    )


def depths(scores: Array) -> Array:
    """How far each score lies below the peak to its left and that to its right, summed."""
    left, right = _peaks(scores), _peaks(scores[::-1])[::-1]
    return (left - scores) + (right - scores)


def _peaks(scores: Array) -> Array:
    """The score that one climbs to from each by going left while it does not fall."""
    peaks = scores.copy()
    for at in range(1, len(scores)):
        if scores[at - 1] >= scores[at]:
            peaks[at] = peaks[at - 1]
    return peaks


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    product = sum(count * b[each] for each, count in a.items())
    lengths = sum(count * count for count in a.values()) * sum(n * n for n in b.values())
    return product / lengths**0.5 if lengths else 0.0
