"""Any encoder's cosines, brought to the scale of the packaged one, which thresholds are for.

One encoder gives unrelated sentences a cosine of 0.05, another of 0.75. So each is measured once,
on question and answer pairs and words that ship (`probe_texts`): the mean cosine of pairs that
belong together, and of pairs that do not. Both are moved to where the packaged encoder has them,
and all others along with them. What is fitted on the packaged encoder's cosines then holds for
another one as far as that separates as well. docs/notebook/experiments.md has the figures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from generator.evidence import Embed, Vectors
from generator.scales.probe_texts import ANSWERS, WORDS
from indexing.encoder.fingerprint import WITHIN_MODEL, Fingerprint
from indexing.message import Notify
from indexing.models.files import DEFAULT_ENCODER
from indexing.models.measured import measured


@dataclass(frozen=True, slots=True)
class Level:
    """Mean cosines of pairs of texts."""

    unrelated: float  # of pairs that have nothing to do with each other
    related: float  # of pairs that belong together

    def moved(self, values: Vectors, to: Level) -> Vectors:
        """Values of any shape, along the line that moves both means to where the other has them."""
        slope = (to.related - to.unrelated) / max(self.related - self.unrelated, 1e-3)
        return np.asarray(to.unrelated + (values - self.unrelated) * slope, np.float32)

    @classmethod
    def of(cls, embed: Embed, pairs: Sequence[tuple[str, str]]) -> Level:
        """Measured on pairs: every first text with its second, and with all others."""
        vectors = embed([text for pair in pairs for text in pair])
        cosines = vectors[::2] @ vectors[1::2].T
        own = np.eye(len(pairs), dtype=bool)
        return cls(float(cosines[~own].mean()), float(cosines[own].mean()))


@dataclass(frozen=True, slots=True)
class CosineScale:
    """What an encoder's cosines are."""

    sentences: Level
    words: Level

    def of_sentences(self, cosines: Vectors) -> Vectors:
        """Cosines of sentences, of any shape, as the packaged encoder would have them."""
        return _moved(cosines, self.sentences, PACKAGED.sentences)

    def of_words(self, cosines: Vectors) -> Vectors:
        """Cosines of words, likewise."""
        return _moved(cosines, self.words, PACKAGED.words)

    @property
    def separates(self) -> bool:
        """Whether what belongs together is closer than what does not."""
        return self.sentences.related > self.sentences.unrelated + 1e-3


PACKAGED = CosineScale(Level(0.0489, 0.4704), Level(0.2982, 0.7303))
"""Of the packaged encoder, as `measure` gives it."""


def _moved(cosines: Vectors, level: Level, to: Level) -> Vectors:
    """Along the line that moves `unrelated` and `related` to where the other has them; 1 at most.

    Nothing is said of equal texts: where an encoder keeps all different ones far apart, a line to
    them would draw paraphrases below the thresholds.
    """
    if level == to or level.related <= level.unrelated:
        return cosines
    return np.asarray(np.clip(level.moved(cosines, to), -1, 1), np.float32)


def measured_levels(
    kind: str, decided_by: object, measure: Callable[[], dict[str, dict[str, float]]]
) -> dict[str, Level]:
    """Levels by name, measured once and kept on this machine.

    All that decides them is given as JSON has it.
    """
    digest = hashlib.sha256(json.dumps(decided_by).encode()).hexdigest()[:16]
    return {name: Level(**one) for name, one in measured(f"{kind}-{digest}", measure).items()}


def measure(embed: Embed) -> CosineScale:
    """An encoder's scale; embeds 112 short texts."""
    return CosineScale(Level.of(embed, ANSWERS), Level.of(embed, WORDS))


def scale_of(
    fingerprint: Fingerprint, embed: Embed, *, notify: Notify | None = None
) -> CosineScale:
    """The scale of the encoder that made a corpus, measured once and kept on this machine."""
    if fingerprint.model == DEFAULT_ENCODER and fingerprint.extension in WITHIN_MODEL:
        return PACKAGED
    decided_by = [fingerprint.as_dict(), ANSWERS, WORDS]
    scale = CosineScale(**measured_levels("cosines", decided_by, lambda: asdict(measure(embed))))
    if notify and not scale.separates:
        notify(
            f"{fingerprint.model}: a question is no closer to its answer than to other texts; "
            "whether the documents answer cannot be told with this encoder"
        )
    return scale
