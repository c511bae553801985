"""Late chunking: each sentence of evidence scored with a vector that knows its context.

The packaged encoder reads windows of a document, and a sentence's vector is the mean over its own
tokens ("late chunking": Günther et al. 2024, arXiv 2409.04701), so that "It's the ninth." knows
what it is about. Low-rank adapters of the encoder's layers (LoRA: Hu et al. 2021, arXiv 2106.09685)
were tuned on QMSum's training meetings for marked utterances to come before others
(`training/reader/tune_context.py`); they ship beside this file (figures: docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Sentence, Vectors
from indexing.encoder.packed import packed
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights
from indexing.models.gguf import silenced
from indexing.nn.lora import merge_lora

if TYPE_CHECKING:
    from torch import Tensor

LORA_WEIGHTS = Path(__file__).with_name("late_chunking.safetensors")
LORA_LAYERS = ("query", "key", "value", "dense")
"""Names of the linear layers that have adapters, in every layer of the encoder."""

_LONGEST_WINDOW = 510  # tokens, without the special ones
_SHORTEST_WINDOW = 254  # tokens; a shorter one is filled up with what stands around it
_GROUP_GAP = 120  # characters between sentences of one window, the speaker's label among them
_GROUP_LENGTH = 900  # characters of the sentences of a window, about
_CONTEXT = 1_500  # characters tokenized on either side of them
_LONGEST_QUESTION = 250  # tokens


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences, encoded together.

    Attributes:
        ids: Token ids of them and of what stands around them, special tokens included.
        spans: Of each sentence, its index in the evidence and its first and last + 1 token.
    """

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int, int], ...]


class ContextualEncoder:
    """The packaged encoder with its adapters merged in, loaded at the first question.

    Args:
        adapters: By a layer's name, `NAME.a` (r, in) and `NAME.b` (out, r), whose product is added
            to its weight; and `scale` (), the weight of a cosine. None for those that ship.
        dtype: None for bfloat16 where the cpu is fast in it, else float32.
    """

    def __init__(
        self,
        adapters: Mapping[str, Tensor] | None = None,
        *,
        dtype: Any = None,  # noqa: ANN401
    ) -> None:
        self._adapters, self._dtype = adapters, dtype
        self._loading = Lock()

    @cached_property
    def _encoder(self) -> tuple[Any, Any, float]:
        """Model, tokenizer and scale."""
        from safetensors.torch import load_file
        from transformers import AutoModel, AutoTokenizer

        folder = encoder_weights().folder
        adapters = load_file(LORA_WEIGHTS) if self._adapters is None else self._adapters
        device = best_device()
        with silenced():
            model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        merge_lora(model, adapters)
        model = model.to(device, self._dtype or best_dtype(device))
        self._packing = ExitStack()  # for as long as there is a model
        self._packing.enter_context(packed(model, rows=4096))
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        return model, tokenizer, float(adapters["scale"])

    def score(self, question: str, sentences: Sequence[Sentence]) -> Vectors:
        """(n,) scaled cosines of the question and each sentence, less the best one's.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        import torch

        if not sentences:
            return np.zeros(0, np.float32)
        with self._loading:
            model, tokenizer, scale = self._encoder
        with torch.inference_mode():
            cosines = cosine_similarities(model, tokenizer, question, sentences).cpu().numpy()
        return np.asarray(scale * (cosines - cosines.max()), np.float32)


def cosine_similarities(
    model: Any,  # noqa: ANN401
    tokenizer: Any,  # noqa: ANN401
    question: str,
    sentences: Sequence[Sentence],
) -> Tensor:
    """(n,) cosine of question and sentence, -1 for one without a token; float32, with gradients."""
    import torch
    from torch.nn.functional import normalize

    query = tokenizer(question, truncation=True, max_length=_LONGEST_QUESTION, return_tensors="pt")
    query = {name: each.to(model.device) for name, each in query.items()}
    vector = normalize(model(**query).last_hidden_state.float().mean(1), dim=-1)[0]
    windows = list(_windows(tokenizer, sentences))
    states = _hidden_states(model, windows, pad=tokenizer.pad_token_id)
    cosines = torch.full((len(sentences),), -1.0, device=model.device)
    spans = [(i, row, a, b) for row, each in enumerate(windows) for i, a, b in each.spans]
    means = torch.stack([states[row, a:b].mean(0) for _, row, a, b in spans])
    index = torch.tensor([i for i, *_ in spans], device=model.device)
    return cosines.index_put((index,), normalize(means, dim=-1) @ vector)


def _hidden_states(model: Any, windows: Sequence[Window], *, pad: int) -> Tensor:  # noqa: ANN401
    """(windows, tokens, d) float32, padded on the right."""
    import torch

    width = max(len(window.ids) for window in windows)
    ids = torch.full((len(windows), width), pad)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window.ids)] = torch.tensor(window.ids)
    mask = (torch.arange(width) < torch.tensor([[len(each.ids)] for each in windows])).long()
    output = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device))
    states: Tensor = output.last_hidden_state.float()
    return states


def _windows(tokenizer: Any, sentences: Sequence[Sentence]) -> Iterator[Window]:  # noqa: ANN401
    """The sentences in windows; a group longer than one is cut, and its tail has no span."""
    for group in _groups(sentences):
        document = sentences[group[0]].document
        first, last = sentences[group[0]].start, max(sentences[i].end for i in group)
        start = document.text.rfind(" ", 0, max(0, first - _CONTEXT)) + 1
        encoding = tokenizer(
            document.text[start : last + _CONTEXT],
            add_special_tokens=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        starts = np.array([begin for begin, _ in encoding["offset_mapping"]]) + start
        low, high = _bounds(starts, first, last)
        ids = encoding["input_ids"][low:high]
        spans = []
        for i in group:
            ends = np.searchsorted(starts, [sentences[i].start, sentences[i].end]) - low
            begin, end = (int(min(each, len(ids))) for each in ends)
            if begin < end:
                spans.append((i, begin + 1, end + 1))  # after the first special token
        if spans:
            yield Window((tokenizer.cls_token_id, *ids, tokenizer.sep_token_id), tuple(spans))


def _bounds(starts: NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
    """First and last + 1 token of the window around some characters.

    Args:
        starts: (tokens,) where each token starts.
        first: The first character.
        last: One past the last.
    """
    a, b = (int(each) for each in np.searchsorted(starts, [first, last]))
    b = min(b, a + _LONGEST_WINDOW)
    room = max(_SHORTEST_WINDOW, b - a)
    low = max(0, min((a + b - room) // 2, len(starts) - room))
    return low, low + room


def _groups(sentences: Sequence[Sentence]) -> Iterator[list[int]]:
    """Indexes of neighbouring sentences, in reading order."""
    order = sorted(
        range(len(sentences)), key=lambda i: (sentences[i].document.id, sentences[i].start)
    )
    group: list[int] = []
    for i in order:
        if group and not _near(sentences[group[0]], sentences[group[-1]], sentences[i]):
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _near(first: Sentence, last: Sentence, sentence: Sentence) -> bool:
    """Whether a sentence goes into the window of a group, of which these are first and last."""
    near = sentence.start - last.end <= _GROUP_GAP and sentence.end - first.start <= _GROUP_LENGTH
    return sentence.document.id == first.document.id and near
