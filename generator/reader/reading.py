"""What the reader says of the evidence, and the reader that says it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Sentence, Vectors
from generator.reader.inputs import READER_WEIGHTS, Inputs, Outputs
from generator.reader.stretch import Stretch, stretches
from indexing.encoder.cpu_layers import cpu_layers
from indexing.encoder.tokenizer import load_tokenizer
from indexing.message import Notify
from indexing.models.device import best_device, best_dtype
from indexing.models.files import DEFAULT_ENCODER, LARGE_ENCODER, encoder_weights, model_files
from indexing.models.graphs.cores import spread
from indexing.models.graphs.graph import Graph, GraphName
from indexing.models.graphs.graph_cache import load_or_make
from indexing.models.shared import Shared
from indexing.text.language import ENGLISH

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from generator.reader.cross_encoder import Logits
    from indexing.models.graphs.graph_export import Export

Heads = Callable[[Sequence[Inputs]], Sequence[Outputs]]
"""What the model says of batches."""


@dataclass(frozen=True)
class Loaded:
    """What readers of the same weights share."""

    tokenizer: Tokenizer  # of its encoder
    heads: Heads  # what the model says
    at_once: int  # how many tokens it is to be given at once
    held: ExitStack  # what ends with the model


LOADED = Shared[Loaded]()
"""Of all readers of this process."""

_LONGEST_ANSWER = 30  # tokens
_IN_EIGHT_BITS = (LARGE_ENCODER,)  # encoders whose graphs are
_TOKENS = 1_024  # of a batch, padding included: a few for each core
UNREAD = -30.0
"""Logit of a sentence that was not read."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a document that may answer: `document.text[start:end]`."""

    start: int  # first character
    end: int  # one past the last
    score: float  # logits of their first and last token, less those of "none" in the same stretch


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader says of n sentences for a question."""

    relevance: Vectors  # (n,) logit that each answers
    words: tuple[Words | None, ...]  # of each sentence those that answer best; None: not read
    answerable: Vectors  # (n,) logit that the stretch around each answers
    language: str | None = None  # the only one that the reader was trained on, if known
    reader: str = ""  # which models have read; "" for the packaged reader alone
    before: Reading | None = None  # what the smaller readers say, where a larger one joined in

    @property
    def spans(self) -> Vectors:
        """(n,) scores of each sentence's best words."""
        return np.array([each.score if each else UNREAD for each in self.words], np.float32)


class AnyReader(Protocol):
    """What reads evidence with a question."""

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """What it says of each sentence, in any language.

        Raises:
            MissingDependency: The default encoder is not installed.
        """
        ...


class Reader:
    """The cross-encoder with its tokenizer, loaded at the first question.

    By default it computes in bfloat16 where the CPU is fast in it, else in float32; with the
    largest encoder in eight bits on a CPU, by its graph, in a third of the time of float32.
    """

    def __init__(
        self,
        weights: Path | None = None,  # changes to the encoder; None for those of the default one
        *,
        encoder: str = DEFAULT_ENCODER,  # the packaged one that was changed
        dtype: Any = None,  # noqa: ANN401
        quick_start: bool = False,  # whether its graph reads, if there can be one
        notify: Notify | None = None,  # told before that is exported
    ) -> None:
        self._weights, self._encoder, self._dtype = weights or READER_WEIGHTS, encoder, dtype
        self._quick_start, self._notify = quick_start, notify
        self._loading = Lock()

    @cached_property
    def _loaded(self) -> Loaded:
        """What reads: that of another reader of the same weights, where there is one."""
        folder = encoder_weights(self._encoder, notify=self._notify).folder
        key = (self._weights, folder, self._dtype, self._quick_start)
        return LOADED.of(key, partial(self._load, folder))

    def _load(self, folder: Path) -> Loaded:
        tokenizer = load_tokenizer(folder)
        if graph := self._graph():
            return Loaded(tokenizer, _through(graph), 1, ExitStack())
        held = ExitStack()
        return Loaded(tokenizer, self._model(held), _TOKENS, held)

    def _graph(self) -> Graph | None:
        """What reads in the model's place, where it starts or computes sooner."""
        sooner = self._encoder in _IN_EIGHT_BITS and self._dtype is None
        if not self._quick_start and not (sooner and best_device().type == "cpu"):
            return None
        graph = reader_graph(self._weights, self._encoder, self._notify)
        return graph if graph is None or self._quick_start else graph.packed()

    def _model(self, held: ExitStack) -> Heads:
        """The model on its device, with layers that end with `held`."""
        import torch

        from generator.reader.cross_encoder import Batch, load_cross_encoder

        device = best_device()
        model = load_cross_encoder(self._weights, self._encoder).to(device)
        model.encoder.to(self._dtype or best_dtype(device))
        held.enter_context(cpu_layers(model.encoder, rows=_TOKENS))

        def heads(inputs: Inputs) -> Outputs:
            with torch.inference_mode():
                logits: Logits = model(Batch(*map(torch.from_numpy, inputs.arrays)).to(device))
            return logits.arrays

        return partial(spread, heads) if device.type == "cpu" else lambda all_: [*map(heads, all_)]

    def read(
        self, question: str, sentences: Sequence[Sentence], only: Collection[int] | None = None
    ) -> Reading:
        """Read sentences of evidence for a question.

        Stretches that hold none of the indexes in `only` are left out.

        Raises:
            MissingDependency: The encoder is not installed.
        """
        if not sentences:
            return Reading(np.zeros(0, np.float32), (), np.zeros(0, np.float32))
        with self._loading:
            loaded = self._loaded
        relevance = np.full(len(sentences), UNREAD, np.float32)
        answerable = relevance.copy()
        words: list[Words | None] = [None] * len(sentences)
        every = stretches(loaded.tokenizer, question, sentences)
        if only is not None:
            every = [one for one in every if not set(only).isdisjoint(one.sentences)]
        batches = list(_batches(every, loaded.at_once))
        said = loaded.heads([Inputs.of(one) for one in batches])
        for batch, outputs in zip(batches, said, strict=True):
            for row, stretch in enumerate(batch):
                here = list(stretch.sentences)
                relevance[here] = outputs.relevant[row, : len(here)]
                answerable[here] = float(outputs.answerable[row])
                for i, found in zip(here, _best_words(outputs, row, stretch), strict=True):
                    words[i] = found
        return Reading(relevance, tuple(words), answerable, ENGLISH)


def reader_graph(
    weights: Path = READER_WEIGHTS, encoder: str = DEFAULT_ENCODER, notify: Notify | None = None
) -> Graph | None:
    """A reader's graph, exported if it is not there; None where it cannot be.

    Raises:
        MissingDependency: The encoder is not installed.
    """

    def build() -> Export:
        from generator.reader.cross_encoder import reader_export

        return reader_export(weights, encoder, eight_bits=encoder in _IN_EIGHT_BITS)

    packaged = encoder_weights(encoder, notify=notify)
    files = (*model_files(packaged), weights)
    return load_or_make(GraphName(f"{packaged.name}-reader", files), build, notify=notify)


def _through(graph: Graph) -> Heads:
    """What a graph says of inputs, in which nothing may be padded."""

    def given(inputs: Inputs) -> dict[str, NDArray[Any]]:
        ids, _, types, choice, members = inputs.arrays
        return {"ids": ids, "types": types, "choice": choice, "members": members}

    return lambda batches: [Outputs(*each) for each in graph.run_each([*map(given, batches)])]


def _batches(every: Sequence[Stretch], at_once: int) -> Iterator[list[Stretch]]:
    """Of about the same length each, and of so many tokens, but at least one stretch."""
    batch: list[Stretch] = []
    for one in sorted(every, key=lambda one: len(one.ids)):
        if batch and (len(batch) + 1) * len(one.ids) > at_once:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _best_words(outputs: Outputs, row: int, stretch: Stretch) -> Iterator[Words]:
    """The best words of each sentence of a stretch."""
    starts, ends = outputs.starts[row], outputs.ends[row]
    for (first, last), offsets in zip(stretch.places, stretch.offsets, strict=True):
        both = starts[first:last, None] + ends[None, first:last]
        a, b = best_pair(both)
        score = float(both[a, b] - starts[0] - ends[0])
        yield Words(offsets[a][0], offsets[b][1], score)


def best_pair(both: NDArray[np.float32]) -> tuple[int, int]:
    """The first and the last token of the best words, by the logits of each two (n, n)."""
    ordered = np.triu(np.ones_like(both, bool))
    allowed = ordered & ~np.triu(ordered, _LONGEST_ANSWER)
    first, last = divmod(int(np.where(allowed, both, -np.inf).argmax()), len(both))
    return first, last
