"""A second reading of what the packaged reader puts first, by a larger encoder.

Twice as many layers, which know other languages than English, read the stretches of the best
sentences again, and every sentence of what is not in English. What both say of a sentence is
averaged. The second reader's scale is measured like that of any reader (`reading_scale`), and lies
so near the packaged one's that nothing is moved. With 5 % withheld wrongly, 55 % of the near misses
of eleven folders are withheld instead of 48 (docs/notebook/experiments.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from generator.evidence import Sentence
from generator.reader.inputs import SECOND_WEIGHTS
from generator.reader.reading import Reader, Reading
from indexing.message import Notify
from indexing.models.files import content_hash, encoder_weights
from indexing.text.language import ENGLISH, LANGUAGES, language_of, language_of_question

_BEST = 5  # sentences of the first reading whose stretches are read again
_SHARE = 2 / 3  # of the second reading in what both say


class SecondReader:
    """Reads with the packaged reader, then the best with another; use as `Reader`.

    The packaged encoder is the one whose changes `SECOND_WEIGHTS` holds; the first reader is one of
    its own where none is given.

    Raises:
        MissingDependency: It is not installed.
    """

    def __init__(
        self,
        encoder: str,
        *,
        first: Reader | None = None,
        quick_start: bool = False,
        notify: Notify | None = None,
    ) -> None:
        packaged = encoder_weights(encoder, notify=notify)
        digest = content_hash([SECOND_WEIGHTS])
        self.described = f"packaged, then {encoder} ({packaged.revision}, {digest})"
        self.first = first or Reader(quick_start=quick_start, notify=notify)
        self.second = Reader(
            SECOND_WEIGHTS, encoder=encoder, quick_start=quick_start, notify=notify
        )

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """Read sentences of evidence for a question, in any language.

        Raises:
            MissingDependency: The default encoder is not installed.
        """
        return self.read_again(question, sentences, self.first.read(question, sentences))

    def read_again(self, question: str, sentences: Sequence[Sentence], first: Reading) -> Reading:
        """As `read`, where the packaged reader has read already.

        That one was trained on English, so that elsewhere its best sentences are not enough.
        """
        only = best_of(first, _BEST) if is_english(question, sentences) else None
        both = joint(first, self.second.read(question, sentences, only=only))
        return replace(both, reader=self.described)


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
