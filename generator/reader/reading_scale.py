"""What another reader says, brought to the scale of the packaged one, which weights are for.

As of cosines (`generator.scales.cosine_scale`): a reader is measured once, on questions beside
short texts that ship. Each of the three numbers it gives has a mean where it is right and
a mean where it is not; both are moved along a line to where the packaged reader has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from generator.evidence import Sentence
from generator.reader.reading import Reading
from generator.scales.cosine_scale import Level, measured_levels
from generator.scales.probe_texts import ANSWERS
from indexing.files import document

Read = Callable[[str, Sequence[Sentence]], Reading]

_BESIDE = 3  # sentences that answer other questions, beside the one that answers


@dataclass(frozen=True, slots=True)
class ReadingScale:
    """Means of what a reader says, where it does not answer and where it does."""

    relevance: Level
    words: Level
    answerable: Level

    def moved(self, reading: Reading) -> Reading:
        """A reading on the packaged reader's scale."""
        words = self.words.moved(reading.spans, PACKAGED.words)
        return Reading(
            self.relevance.moved(reading.relevance, PACKAGED.relevance),
            tuple(
                one and replace(one, score=float(score))
                for one, score in zip(reading.words, words, strict=True)
            ),
            self.answerable.moved(reading.answerable, PACKAGED.answerable),
        )


PACKAGED = ReadingScale(Level(-7.28, -1.403), Level(-16.029, -4.741), Level(-6.296, -1.745))
"""Of the packaged reader, as `measure` gives it."""


def measure(read: Read) -> ReadingScale:
    """A reader's scale, from 64 short texts: each question beside its answer, and without it."""
    right: list[tuple[float, float, float]] = []
    wrong: list[tuple[float, float, float]] = []
    for number, (question, answer) in enumerate(ANSWERS):
        others = [ANSWERS[(number + 5 * step) % len(ANSWERS)][1] for step in range(1, _BESIDE + 2)]
        reading = read(question, _sentences([*others[:2], answer, *others[2:_BESIDE]]))
        right.append(_numbers(reading, 2))
        without = read(question, _sentences(others))
        wrong.append(_numbers(without, int(without.relevance.argmax())))
    levels = [
        Level(float(np.mean(low)), float(np.mean(high)))
        for low, high in zip(zip(*wrong, strict=True), zip(*right, strict=True), strict=True)
    ]
    return ReadingScale(*levels)


def _numbers(reading: Reading, at: int) -> tuple[float, float, float]:
    return float(reading.relevance[at]), float(reading.spans[at]), float(reading.answerable[at])


def _sentences(texts: Sequence[str]) -> list[Sentence]:
    """Sentences of one text that nobody has written."""
    whole, found = document(" ".join(texts), name="probe"), []
    at = 0
    for text in texts:
        found.append(Sentence(whole, at, at + len(text), 0.0))
        at += len(text) + 1
    return found


def scale_of_reader(digest: str, read: Read) -> ReadingScale:
    """The scale of a reader, measured once and kept on this machine."""
    return ReadingScale(
        **measured_levels("reader", [digest, ANSWERS], lambda: asdict(measure(read)))
    )
