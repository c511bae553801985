"""A second reading of what the packaged reader puts first, by a larger encoder.

The packaged reader was trained on English alone. Twice as many layers, which know a hundred
languages, read the stretches of the best sentences again, and every sentence of what is not in
English. What both say of a sentence is averaged. The second reader's scale is measured like that of
any reader (`reading_scale`), and lies so near the packaged one's that nothing is moved.

Where its encoder is installed, it joins in by default for what is in another language, and where
the packaged one is sure of no sentence: as with near misses, which look like what is asked. Of
eleven folders that is a third of the questions that are answered, and four fifths of the near
misses, of which 56 % are then withheld instead of 48 (with 5 % of the others); of a hundred German
questions 60 are led by the right words instead of 48 (docs/notebook/experiments.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from generator.evidence import Sentence
from generator.reader.inputs import SECOND_WEIGHTS
from generator.reader.reading import AnyReader, Reader, Reading
from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.files import (
    MULTILINGUAL_ENCODER,
    content_hash,
    encoder_weights,
    has_multilingual,
)
from indexing.text.language import ENGLISH, LANGUAGES, language_of, language_of_question

_BEST = 5  # sentences of the first reading whose stretches are read again
_SURE = 2.0  # logit of the best sentence from which one reading is enough
_SHARE = 2 / 3  # of the second reading in what both say


class FurtherReader:
    """A larger model that reads again; one that is not required may fail to be loaded."""

    def __init__(
        self,
        weights: Path,
        encoder: str,
        *,
        required: bool,
        quick_start: bool,
        notify: Notify | None,
    ) -> None:
        self.model = Reader(weights, encoder=encoder, quick_start=quick_start, notify=notify)
        self.failure = ""
        self._weights, self._encoder, self._required = weights, encoder, required

    def read(
        self, question: str, sentences: Sequence[Sentence], only: Collection[int] | None
    ) -> Reading | None:
        """As of `Reader`; None where it cannot be loaded, and need not.

        Raises:
            UnsupportedModel: Its files are damaged, and it is required.
        """
        if self.failure:
            return None
        try:
            return self.model.read(question, sentences, only=only)
        except (OSError, UnsupportedModel) as error:  # no room to unpack it; a damaged file
            if self._required:
                raise
            self.failure = str(error)
            return None

    @cached_property
    def described(self) -> str:
        """Which model it is, with what pins its files."""
        revision = encoder_weights(self._encoder).revision
        return f"{self._encoder} ({revision}, {content_hash([self._weights])})"


class SecondReader:
    """Reads with the packaged reader, then the best with another; use as `Reader`.

    One that is required, as one asked for by name is, always reads again.

    Raises:
        MissingDependency: It is required, and not installed.
    """

    def __init__(
        self, *, required: bool = True, quick_start: bool = False, notify: Notify | None = None
    ) -> None:
        if required:
            encoder_weights(MULTILINGUAL_ENCODER, notify=notify)
        self.first = Reader(quick_start=quick_start, notify=notify)
        self.second = FurtherReader(
            SECOND_WEIGHTS, MULTILINGUAL_ENCODER,
            required=required, quick_start=quick_start, notify=notify,
        )  # fmt: skip
        self._required = required

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """The second reads what the first puts first, and everything in another language.

        Where it cannot be loaded, what the first one says stands.
        """
        first = self.first.read(question, sentences)
        english = is_english(question, sentences)
        if english and is_sure(first) and not self._required:
            return first
        only = best_of(first, _BEST) if english else None
        second = self.second.read(question, sentences, only)
        if second is None:
            return replace(first, reader=f"packaged alone ({self.second.failure})")
        return replace(joint(first, second), reader=f"packaged, then {self.second.described}")


def default_reader(*, quick_start: bool = False, notify: Notify | None = None) -> AnyReader:
    """What reads by default but for a larger model: both where the second one is installed."""
    if has_multilingual():
        return SecondReader(required=False, quick_start=quick_start, notify=notify)
    return Reader(quick_start=quick_start, notify=notify)


def is_sure(reading: Reading) -> bool:
    """Whether some sentence answers by all that a reader says, or there is none."""
    return not len(reading.relevance) or float(reading.relevance.max()) >= _SURE


def is_english(question: str, sentences: Sequence[Sentence]) -> bool:
    """Whether a question and most of its evidence are in English."""
    spoken = Counter(language_of(each.document.text) for each in sentences)
    languages = [language for language, _ in spoken.most_common()] or [ENGLISH]
    return languages[0] == ENGLISH == language_of_question(question, [*languages, *LANGUAGES])


def best_of(reading: Reading, count: int) -> list[int]:
    """Indexes of the sentences that a reading puts first."""
    order = np.argsort(-(reading.relevance + reading.spans), kind="stable")
    return [int(each) for each in order[:count]]


def joint(first: Reading, second: Reading, weight: float = _SHARE) -> Reading:
    """The mean of two readings where both have read, with the second's words; else the first.

    The second has that weight in the mean. Not to have read is to have no words.
    """
    pairs = list(zip(first.words, second.words, strict=True))
    share = np.array([weight if one and other else 0 for one, other in pairs], np.float32)
    relevance, answerable, scores = (
        (1 - share) * one + share * other
        for one, other in (
            (first.relevance, second.relevance),
            (first.answerable, second.answerable),
            (first.spans, second.spans),
        )
    )
    words = tuple(
        replace(other, score=float(score)) if one and other else one
        for (one, other), score in zip(pairs, scores, strict=True)
    )
    return Reading(relevance, words, answerable)
