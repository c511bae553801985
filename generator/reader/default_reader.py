"""The reader that ships: of one model, and of two where that one may not see what answers.

The packaged reader was trained on English alone. The second one (`second_reader`) knows a hundred
languages; where its encoder is installed, it joins in for questions and documents in another
language, of which it reads every sentence, and where the packaged one is sure of no sentence: as
with near misses, which look like what is asked. Of eleven folders that is a third of the questions
that are answered, and four fifths of the near misses, of which 56 % are then withheld instead of 48
(with 5 % of the others); of a hundred German questions 60 are led by the right words instead of 48
(docs/notebook/experiments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

from generator.evidence import Sentence
from generator.reader.reading import Reader, Reading
from generator.reader.second_reader import SecondReader, is_english
from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.files import MULTILINGUAL_ENCODER

_SURE = 2.0  # logit of the best sentence from which one reading is enough


class DefaultReader:
    """Reads with the packaged reader, and twice what it may not have seen; use as `Reader`."""

    def __init__(self, *, quick_start: bool = False, notify: Notify | None = None) -> None:
        self.first = Reader(quick_start=quick_start, notify=notify)
        self._quick_start, self._notify = quick_start, notify
        self._second: SecondReader | None = None
        self._failure = ""
        self._loading = Lock()

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """Read sentences of evidence for a question, in any language.

        Where the second reader cannot be loaded, what the first one says stands.

        Raises:
            MissingDependency: The default encoder is not installed.
        """
        first = self.first.read(question, sentences)
        if is_english(question, sentences) and is_sure(first):
            return first
        with self._loading:
            second = self._load()
        if second is None:
            return replace(first, reader=f"packaged alone ({self._failure})")
        return second.read_again(question, sentences, first)

    def _load(self) -> SecondReader | None:
        """The reader of two models, at the first question that needs it; None where it fails."""
        if self._second is None and not self._failure:
            try:
                self._second = SecondReader(
                    MULTILINGUAL_ENCODER,
                    first=self.first,
                    quick_start=self._quick_start,
                    notify=self._notify,
                )
            except (OSError, UnsupportedModel) as error:  # no room to convert it; a damaged file
                self._failure = str(error)
        return self._second


def is_sure(reading: Reading) -> bool:
    """Whether some sentence answers by all that a reader says, or there is none."""
    return not len(reading.relevance) or float(reading.relevance.max()) >= _SURE
