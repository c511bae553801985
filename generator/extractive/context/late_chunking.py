"""Late chunking: each sentence of evidence scored with a vector that knows its context.

The packaged encoder reads windows of a document, and a sentence's vector is the mean over its own
tokens ("late chunking": Günther et al. 2024, arXiv 2409.04701), so that "It's the ninth." knows
what it is about. Low-rank adapters of the encoder's layers (LoRA: Hu et al. 2021, arXiv 2106.09685)
were tuned on QMSum's training meetings for marked utterances to come before others
(`training/reader/tune_context.py`); they ship with the package. Figures:
docs/notebook/experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Sentence, Vectors, reading_order, stand_together
from generator.extractive.fitted import LORA_WEIGHTS
from indexing.encoder.cpu_layers import cpu_layers
from indexing.encoder.pooling import unit
from indexing.encoder.tokenizer import load_tokenizer
from indexing.message import Notify
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights, model_files
from indexing.models.graphs.graph import Graph, GraphName
from indexing.models.graphs.graph_cache import load_or_make
from indexing.models.shared import Shared

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from indexing.models.graphs.graph_export import Export

HiddenStates = Callable[[Sequence[Sequence[int]]], list[Vectors]]
"""Rows of token ids to the hidden states of each, (t, d) float32."""

LORA_LAYERS = ("query", "key", "value", "dense")
"""Names of the linear layers that have adapters, in every layer of the encoder."""

_LONGEST_WINDOW = 510  # tokens, without the special ones
_SHORTEST_WINDOW = 254  # tokens; a shorter one is filled up with what stands around it
_GROUP_LENGTH = 900  # characters of the sentences of a window, about
_CONTEXT = 1_500  # characters tokenized on either side of them
_LONGEST_QUESTION = 250  # tokens


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences, encoded together."""

    ids: tuple[int, ...]  # of them and of what stands around them, special tokens included
    spans: tuple[tuple[int, int, int], ...]  # of each sentence its index, first and last + 1 token


@dataclass(frozen=True)
class Loaded:
    """What encoders share."""

    tokenizer: Tokenizer
    states: HiddenStates  # token ids to hidden states
    scale: float  # the weight of a cosine
    held: ExitStack  # what ends with the model


LOADED = Shared[Loaded]()
"""Of all encoders of this process that have no adapters of their own."""


class ContextualEncoder:
    """The packaged encoder with its adapters merged in, loaded at the first question.

    Those have, by a layer's name, `NAME.a` (r, in) and `NAME.b` (out, r), whose product is added to
    its weight; and `scale` (), the weight of a cosine. By default it computes in bfloat16 where the
    CPU is fast in it, else in float32.
    """

    def __init__(
        self,
        adapters: Mapping[str, Tensor] | None = None,  # None for those that ship
        *,
        dtype: Any = None,  # noqa: ANN401
        quick_start: bool = False,  # whether the graph of what ships encodes, if there can be one
        notify: Notify | None = None,  # told before that is exported
    ) -> None:
        self._adapters, self._dtype = adapters, dtype
        self._quick_start, self._notify = quick_start and adapters is None, notify
        self._loading = Lock()

    @cached_property
    def _loaded(self) -> Loaded:
        """What encodes: that of another encoder without adapters of its own, where there is one."""
        if self._adapters is not None:
            return self._load()
        return LOADED.of((encoder_weights().folder, self._dtype, self._quick_start), self._load)

    def _load(self) -> Loaded:
        tokenizer = load_tokenizer(encoder_weights().folder)
        graph = context_graph(self._notify) if self._quick_start else None
        if graph is not None:
            return Loaded(tokenizer, _through(graph), float(graph.record["scale"]), ExitStack())
        from generator.extractive.context.contextual_model import load_contextual_model, states_of

        device, held = best_device(), ExitStack()
        model, scale = load_contextual_model(self._adapters)
        model = model.to(device, self._dtype or best_dtype(device))
        held.enter_context(cpu_layers(model, rows=2048))
        return Loaded(tokenizer, partial(states_of, model), scale, held)

    def score(self, question: str, sentences: Sequence[Sentence]) -> Vectors:
        """(n,) scaled cosines of the question and each sentence, less the best one's.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        if not sentences:
            return np.zeros(0, np.float32)
        with self._loading:
            loaded = self._loaded
        cosines = _cosines(loaded.states, loaded.tokenizer, question, sentences)
        return np.asarray(loaded.scale * (cosines - cosines.max()), np.float32)


def context_graph(notify: Notify | None = None) -> Graph | None:
    """The graph of the encoder with the adapters that ship; None where there cannot be one.

    Raises:
        MissingDependency: The packaged encoder is not installed.
    """

    def build() -> Export:
        from generator.extractive.context.contextual_model import context_export

        return context_export()

    packaged = encoder_weights()
    files = (*model_files(packaged), LORA_WEIGHTS)
    return load_or_make(GraphName(f"{packaged.name}-context", files), build, notify=notify)


def _through(graph: Graph) -> HiddenStates:
    def states(rows: Sequence[Sequence[int]]) -> list[Vectors]:
        every = graph.run_each([{"ids": np.array([row], np.int64)} for row in rows])
        return [one[0] for (one,) in every]

    return states


def _cosines(
    states: HiddenStates, tokenizer: Tokenizer, question: str, sentences: Sequence[Sentence]
) -> Vectors:
    """(n,) cosine of question and sentence, -1 for one without a token."""
    every = list(windows(tokenizer, sentences))
    asked, *read = states([question_ids(tokenizer, question), *(one.ids for one in every)])
    vector = unit(asked.mean(0, keepdims=True))[0]
    cosines = np.full(len(sentences), -1, np.float32)
    for window, of_window in zip(every, read, strict=True):
        means = np.stack([of_window[start:end].mean(0) for _, start, end in window.spans])
        cosines[[i for i, *_ in window.spans]] = unit(means) @ vector
    return cosines


def question_ids(tokenizer: Tokenizer, question: str) -> list[int]:
    """Token ids of a question, special ones included."""
    first, *ids, last = tokenizer.encode(question).ids
    return [first, *ids[: _LONGEST_QUESTION - 2], last]


def windows(tokenizer: Tokenizer, sentences: Sequence[Sentence]) -> Iterator[Window]:
    """The sentences in windows; a group longer than one is cut, and its tail has no span."""
    first_id, last_id = tokenizer.encode("").ids
    for group in _groups(sentences):
        document = sentences[group[0]].document
        first, last = sentences[group[0]].start, max(sentences[i].end for i in group)
        start = document.text.rfind(" ", 0, max(0, first - _CONTEXT)) + 1
        around = document.text[start : last + _CONTEXT]
        encoding = tokenizer.encode(around, add_special_tokens=False)
        starts = np.array([begin for begin, _ in encoding.offsets]) + start
        low, high = _bounds(starts, first, last)
        ids = encoding.ids[low:high]
        spans = []
        for i in group:
            ends = np.searchsorted(starts, [sentences[i].start, sentences[i].end]) - low
            begin, end = (int(min(each, len(ids))) for each in ends)
            if begin < end:
                spans.append((i, begin + 1, end + 1))  # after the first special token
        if spans:
            yield Window((first_id, *ids, last_id), tuple(spans))


def _bounds(starts: NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
    """First and last + 1 token of the window around some characters."""
    a, b = (int(each) for each in np.searchsorted(starts, [first, last]))
    b = min(b, a + _LONGEST_WINDOW)
    room = max(_SHORTEST_WINDOW, b - a)
    low = max(0, min((a + b - room) // 2, len(starts) - room))
    return low, low + room


def _groups(sentences: Sequence[Sentence]) -> Iterator[list[int]]:
    """Indexes of neighbouring sentences, in reading order."""
    group: list[int] = []
    for i in reading_order(sentences):
        if group and not _goes_on(sentences[group[0]], sentences[group[-1]], sentences[i]):
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _goes_on(first: Sentence, last: Sentence, sentence: Sentence) -> bool:
    """Whether a sentence goes into the window of a group, of which these are first and last."""
    return stand_together(last, sentence) and sentence.end - first.start <= _GROUP_LENGTH
