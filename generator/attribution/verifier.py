"""The verifier: the probability that evidence supports a sentence, however it is worded.

A cross-encoder: the packaged encoder reads sentence and excerpt together (`[CLS] sentence [SEP]
excerpt [SEP]`), and one logit says whether the excerpt supports the sentence. It was tuned on
questions on passages and on QMSum's training meetings (`training/verifier`); what was added to the
encoder's weights belongs beside this file. docs/notebook/experiments.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexing.encoder.cpu_layers import cpu_layers
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights
from indexing.models.loading import loading
from indexing.models.shared import Shared
from indexing.models.weight_changes import add_changes

if TYPE_CHECKING:
    from torch import Tensor

VERIFIER_WEIGHTS = Path(__file__).with_name("verifier.safetensors")
LONGEST = 224
"""Most tokens of a sentence and its excerpt; of a longer pair the excerpt's end is left out."""

_HEAD = "supported"  # name of the logit's layer in the file


@dataclass(frozen=True)
class Loaded:
    """What verifiers share."""

    model: Any  # its encoder, of hidden size d
    tokenizer: Any
    weight: Tensor  # (1, d) of the logit
    bias: Tensor  # (1,) of the logit
    held: ExitStack  # what ends with the model


LOADED = Shared[Loaded]()
"""Of all verifiers of this process that have the weights that ship."""


class AnyVerifier(Protocol):
    """What says whether evidence supports a sentence: the packaged one, or one by name."""

    def probabilities(self, sentence: str, excerpts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) the probability that each excerpt supports the sentence, 0 to 1."""


def shipped_verifier() -> Verifier | None:
    """The verifier whose weights ship; None where there are none, and only quotes count."""
    return Verifier() if VERIFIER_WEIGHTS.is_file() else None


class Verifier:
    """The packaged encoder with what was added to it, loaded at the first sentence.

    Args:
        tensors: What to add to the encoder, as `indexing/models/weight_changes.py` has it, and the
            logit's own `supported.weight` (1, d) and `supported.bias` (1,). None for those that
            ship.
        dtype: None for bfloat16 where the CPU is fast in it, else float32.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor] | None = None,
        *,
        dtype: Any = None,  # noqa: ANN401
    ) -> None:
        self._tensors, self._dtype = tensors, dtype
        self._loading = Lock()

    @cached_property
    def _loaded(self) -> Loaded:
        """What verifies: that of another one with the same weights, where there is one."""
        folder = encoder_weights().folder
        if self._tensors is not None:
            return self._load(folder)
        return LOADED.of((folder, self._dtype), partial(self._load, folder))

    def _load(self, folder: Path) -> Loaded:
        from safetensors.torch import load_file

        tensors = load_file(VERIFIER_WEIGHTS) if self._tensors is None else self._tensors
        device, held = best_device(), ExitStack()
        with loading():
            from transformers import AutoModel, AutoTokenizer

            model = AutoModel.from_pretrained(
                folder, local_files_only=True, add_pooling_layer=False
            ).eval()
        add_changes(model, tensors)
        model = model.to(device, self._dtype or best_dtype(device))
        held.enter_context(cpu_layers(model, rows=512))
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        weight, bias = (
            tensors[f"{_HEAD}.{part}"].float().to(device) for part in ("weight", "bias")
        )
        return Loaded(model, tokenizer, weight, bias, held)

    def probabilities(self, sentence: str, excerpts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) the probability that each excerpt supports the sentence, 0 to 1.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        import torch

        if not excerpts:
            return np.zeros(0, np.float32)
        with self._loading:
            loaded = self._loaded
        model = loaded.model
        inputs = loaded.tokenizer(
            [sentence] * len(excerpts),
            list(excerpts),
            truncation="longest_first",
            max_length=LONGEST,
            padding=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            states = model(**{name: each.to(model.device) for name, each in inputs.items()})
            logits = states.last_hidden_state[:, 0].float() @ loaded.weight[0] + loaded.bias
            return np.asarray(logits.sigmoid().cpu().numpy(), np.float32)
