"""How close sentences of evidence are to a question, each read among what stands around it.

The packaged encoder reads stretches of evidence whole, and a sentence's vector is the mean over its
own tokens ("late chunking": Günther et al. 2024, arXiv 2409.04701), so that "It's the ninth." knows
what it is about. Low-rank changes of the encoder's layers (LoRA: Hu et al. 2021, arXiv 2106.09685)
were tuned on QMSum's training meetings for marked turns to come before others
(`tools/tune_context.py`); they ship beside this file. docs/experiments.md has the figures.
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

from generator.evidence import Sentence, Vectors
from indexing.encoder.packed import packed
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights
from indexing.models.gguf import silenced

if TYPE_CHECKING:
    from torch import Tensor, nn

CHANGES = Path(__file__).with_name("late_chunking.safetensors")
LAYERS = ("query", "key", "value", "dense")
"""Names of the linear layers that are changed, in every layer of the encoder."""

_LONGEST = 510  # tokens of a stretch
_SHORTEST = 254  # a shorter one is read with its surroundings
_APART = 120  # characters between sentences of one stretch, the speaker's label among them
_EXTENT = 900  # characters of the sentences of a stretch, about
_AROUND = 1_500  # characters on either side
_QUESTION = 250  # tokens


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring sentences, read together.

    Attributes:
        ids: Token ids of them and of what stands around them.
        places: Of each sentence, its number in the evidence and its first and last + 1 token.
    """

    ids: tuple[int, ...]
    places: tuple[tuple[int, int, int], ...]


class Context:
    """The tuned encoder.

    Args:
        changes: What is added to its layers: by a layer's name, `NAME.a` (r, in) and `NAME.b`
            (out, r), whose product is added; and `scale` (), what a cosine counts.
        dtype: None for bfloat16 where the processor is fast in it, else float32.
    """

    def __init__(
        self,
        changes: Mapping[str, Tensor] | None = None,
        *,
        dtype: Any = None,  # noqa: ANN401
    ) -> None:
        self._changes, self._dtype = changes, dtype
        self._loading = Lock()

    @cached_property
    def _loaded(self) -> tuple[Any, Any, float]:
        """Model, tokenizer and scale; loaded at the first question."""
        from safetensors.torch import load_file
        from transformers import AutoModel, AutoTokenizer

        folder = encoder_weights().folder
        changes = load_file(CHANGES) if self._changes is None else self._changes
        device = best_device()
        with silenced():
            model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        change(model, changes)
        model = model.to(device, self._dtype or best_dtype(device))
        self._held = ExitStack()  # for as long as there is a model
        self._held.enter_context(packed(model, rows=4096))
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        return model, tokenizer, float(changes["scale"])

    def closeness(self, question: str, found: Sequence[Sentence]) -> Vectors:
        """(n,) how close each sentence is to the question; 0 for the closest, the others below.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        import torch

        if not found:
            return np.zeros(0, np.float32)
        with self._loading:
            model, tokenizer, scale = self._loaded
        with torch.inference_mode():
            cosines = compared(model, tokenizer, question, found).cpu().numpy()
        return np.asarray(scale * (cosines - cosines.max()), np.float32)


def change(model: nn.Module, changes: Mapping[str, Tensor]) -> None:
    """Adds the changes to the layers' weights."""
    for name, module in model.named_modules():
        if f"{name}.a" in changes:
            added = changes[f"{name}.b"].float() @ changes[f"{name}.a"].float()
            module.weight.data += added.to(module.weight)


def compared(model: Any, tokenizer: Any, question: str, found: Sequence[Sentence]) -> Tensor:  # noqa: ANN401
    """(n,) cosine of question and sentence, -1 for one without a token; float32, with gradients."""
    import torch
    from torch.nn.functional import normalize

    asked = tokenizer(question, truncation=True, max_length=_QUESTION, return_tensors="pt")
    asked = {name: each.to(model.device) for name, each in asked.items()}
    wanted = normalize(model(**asked).last_hidden_state.float().mean(1), dim=-1)[0]
    stretches = list(_stretches(tokenizer, found))
    width = max(len(stretch.ids) for stretch in stretches)
    ids = torch.full((len(stretches), width), tokenizer.pad_token_id)
    for row, stretch in zip(ids, stretches, strict=True):
        row[: len(stretch.ids)] = torch.tensor(stretch.ids)
    mask = (torch.arange(width) < torch.tensor([[len(each.ids)] for each in stretches])).long()
    states = model(
        input_ids=ids.to(model.device), attention_mask=mask.to(model.device)
    ).last_hidden_state.float()
    cosines = torch.full((len(found),), -1.0, device=model.device)
    places = [(i, row, a, b) for row, each in enumerate(stretches) for i, a, b in each.places]
    means = torch.stack([states[row, a:b].mean(0) for _, row, a, b in places])
    at = torch.tensor([i for i, *_ in places], device=model.device)
    return cosines.index_put((at,), normalize(means, dim=-1) @ wanted)


def _stretches(tokenizer: Any, found: Sequence[Sentence]) -> Iterator[Stretch]:  # noqa: ANN401
    """The sentences in stretches; what is longer than one is cut, and its tail has no place."""
    for group in _groups(found):
        document = found[group[0]].document
        first, last = found[group[0]].start, max(found[i].end for i in group)
        start = document.text.rfind(" ", 0, max(0, first - _AROUND)) + 1
        near = tokenizer(
            document.text[start : last + _AROUND],
            add_special_tokens=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        begins = np.array([begin for begin, _ in near["offset_mapping"]]) + start
        a, b = np.searchsorted(begins, [first, last])
        b = min(int(b), int(a) + _LONGEST)
        room = max(_SHORTEST, b - int(a))
        low = max(0, min((int(a) + b - room) // 2, len(begins) - room))
        ids = near["input_ids"][low : low + room]
        places = []
        for i in group:
            ends = np.searchsorted(begins, [found[i].start, found[i].end]) - low
            begin, end = (int(min(each, len(ids))) for each in ends)
            if begin < end:
                places.append((i, begin + 1, end + 1))
        framed = (tokenizer.cls_token_id, *ids, tokenizer.sep_token_id)
        if places:
            yield Stretch(framed, tuple(places))


def _groups(found: Sequence[Sentence]) -> Iterator[list[int]]:
    """Numbers of neighbouring sentences, in reading order."""
    order = sorted(range(len(found)), key=lambda i: (found[i].document.id, found[i].start))
    group: list[int] = []
    for i in order:
        first, last = (found[group[0]], found[group[-1]]) if group else (found[i], found[i])
        near = found[i].document.id == first.document.id and (
            found[i].start - last.end <= _APART and found[i].end - first.start <= _EXTENT
        )
        if group and not near:
            yield group
            group = []
        group.append(i)
    if group:
        yield group
