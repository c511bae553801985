"""What the reader says of the evidence, and the reader that says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.evidence import Sentence, Vectors
from generator.reader.stretch import Stretch, stretches
from indexing.encoder.packed import packed
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights

if TYPE_CHECKING:
    from generator.reader.cross_encoder import CrossEncoder, Logits

_LONGEST_ANSWER = 30  # tokens
_TOKENS = 4_096  # of a batch, padding included
_UNREAD = -30.0  # logit of a sentence that was not read


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a document that may answer: `document.text[start:end]`.

    Attributes:
        start: First character.
        end: One past the last.
        score: Logits of their first and last token, less those of "none" in the same stretch.
    """

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader says of n sentences for a question.

    Attributes:
        relevance: (n,) logit that each answers.
        words: Of each sentence the words in it that answer best; None where it was not read.
        answerable: (n,) logit that the stretch around each answers.
    """

    relevance: Vectors
    words: tuple[Words | None, ...]
    answerable: Vectors

    @property
    def spans(self) -> Vectors:
        """(n,) scores of each sentence's best words."""
        return np.array([each.score if each else _UNREAD for each in self.words], np.float32)


class Reader:
    """The cross-encoder with its tokenizer, loaded at the first question.

    Args:
        weights: A file of changes to the packaged encoder; None for those that ship.
        dtype: None for bfloat16 where the CPU is fast in it, else float32.
    """

    def __init__(self, weights: Path | None = None, *, dtype: Any = None) -> None:  # noqa: ANN401
        self._weights, self._dtype = weights, dtype
        self._loading = Lock()

    @cached_property
    def _model(self) -> tuple[CrossEncoder, Any]:
        """The model on its device, and its tokenizer."""
        from transformers import AutoTokenizer

        from generator.reader.cross_encoder import READER_WEIGHTS, load_cross_encoder

        device = best_device()
        model = load_cross_encoder(self._weights or READER_WEIGHTS).to(device)
        model.encoder.to(self._dtype or best_dtype(device))
        self._packing = ExitStack()  # for as long as there is a model
        self._packing.enter_context(packed(model.encoder, rows=_TOKENS))
        folder = encoder_weights().folder
        return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """Read sentences of evidence for a question.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        import torch

        from generator.reader.cross_encoder import Batch

        if not sentences:
            return Reading(np.zeros(0, np.float32), (), np.zeros(0, np.float32))
        with self._loading:
            model, tokenizer = self._model
        relevance = np.full(len(sentences), _UNREAD, np.float32)
        answerable = relevance.copy()
        words: list[Words | None] = [None] * len(sentences)
        device = next(model.parameters()).device
        for batch in _batches(stretches(tokenizer, question, sentences)):
            with torch.inference_mode():
                logits = model(Batch.of(batch).to(device))
            for row, stretch in enumerate(batch):
                here = list(stretch.sentences)
                relevance[here] = logits.relevant[row, : len(here)].cpu().numpy()
                answerable[here] = float(logits.answerable[row])
                for i, found in zip(here, _best_words(logits, row, stretch), strict=True):
                    words[i] = found
        return Reading(relevance, tuple(words), answerable)


def _batches(every: Sequence[Stretch]) -> Iterator[list[Stretch]]:
    """Of about the same length each."""
    batch: list[Stretch] = []
    for one in sorted(every, key=lambda one: len(one.ids)):
        if batch and (len(batch) + 1) * len(one.ids) > _TOKENS:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _best_words(logits: Logits, row: int, stretch: Stretch) -> Iterator[Words]:
    """The best words of each sentence of a stretch."""
    starts, ends = (each[row].cpu().numpy() for each in (logits.starts, logits.ends))
    for (first, last), offsets in zip(stretch.places, stretch.offsets, strict=True):
        both = starts[first:last, None] + ends[None, first:last]
        low = np.tril(np.ones_like(both, bool), -1)
        far = np.triu(np.ones_like(both, bool), _LONGEST_ANSWER)
        both[low | far] = -np.inf
        a, b = divmod(int(both.argmax()), both.shape[1])
        score = float(both[a, b] - starts[0] - ends[0])
        yield Words(offsets[a][0], offsets[b][1], score)
