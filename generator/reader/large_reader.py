"""The readers that ship, and after them a larger one: `--reader all-mpnet-base-v2`.

Eight times as many weights as the packaged reader's read the stretches of the best sentences again,
in English, by default where its packages are installed; then 24 passages are read, not 16, and it
has its part in whether documents answer. On folders that nobody looked at, 291 of 400 answers are
led by the right words; a question takes some 0.6 s longer (docs/notebook/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generator.evidence import Sentence
from generator.reader.inputs import LARGE_WEIGHTS
from generator.reader.reading import Reading, reader_graph
from generator.reader.second_reader import FurtherReader, best_of, default_reader, is_english, joint
from indexing.message import Notify
from indexing.models.files import LARGE_ENCODER, encoder_weights, has_large

_BEST = 12  # sentences whose stretches are read again
_AFTER_ONE, _AFTER_TWO = 2 / 3, 1 / 2  # its share of what is said, after so many other readers


class LargeReader:
    """Reads as those that ship, then with a larger model; use as `Reader`.

    Where that one cannot be loaded and is not required, as one asked for by name is, what the
    others say stands.

    Raises:
        MissingDependency: The larger encoder is not installed.
    """

    def __init__(
        self, *, required: bool = True, quick_start: bool = False, notify: Notify | None = None
    ) -> None:
        if required and not has_large():
            encoder_weights(LARGE_ENCODER)  # says what to install
        self.first = default_reader(quick_start=quick_start, notify=notify)
        self.large = FurtherReader(
            LARGE_WEIGHTS, LARGE_ENCODER,
            required=required, quick_start=quick_start, notify=notify,
        )  # fmt: skip

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """The larger model reads what is in English again."""
        first = self.first.read(question, sentences)
        if not sentences or not is_english(question, sentences):
            return first
        said = first.reader or "packaged"
        second = self.large.read(question, sentences, best_of(first, _BEST))
        if second is None:
            return replace(first, reader=f"{said} (without {LARGE_ENCODER}: {self.large.failure})")
        both = joint(first, second, _AFTER_ONE if first.language else _AFTER_TWO)
        return replace(both, reader=f"{said}, then {self.large.described}", before=first)


def prepare_large_reader(notify: Notify | None = None) -> None:
    """Unpack the larger model and export its graph, where that is not done yet.

    Raises:
        MissingDependency: It is not installed.
        UnsupportedModel: Its files are damaged.
        OSError: There is no room for it.
    """
    reader_graph(LARGE_WEIGHTS, LARGE_ENCODER, notify)
