"""The verifier: the probability that evidence supports a sentence, however it is worded.

A cross-encoder: the packaged encoder reads sentence and excerpt together (`[CLS] sentence [SEP]
excerpt [SEP]`), and one logit says whether the excerpt supports the sentence. It was tuned on
questions on passages and on QMSum's training meetings (`training/verifier`); what was added to the
encoder's weights belongs beside this file. docs/notebook/experiments.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexing.encoder.cpu_layers import cpu_layers
from indexing.models.device import best_device, best_dtype
from indexing.models.files import encoder_weights
from indexing.models.loading import loading
from indexing.models.weight_changes import add_changes

if TYPE_CHECKING:
    from torch import Tensor

VERIFIER_WEIGHTS = Path(__file__).with_name("verifier.safetensors")
LONGEST = 224
"""Most tokens of a sentence and its excerpt; of a longer pair the excerpt's end is left out."""

_HEAD = "supported"  # name of the logit's layer in the file


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
    def _encoder(self) -> tuple[Any, Any, Tensor, Tensor]:
        """Model, tokenizer, and the logit's weight (1, d) and bias (1,)."""
        from safetensors.torch import load_file

        folder = encoder_weights().folder
        tensors = load_file(VERIFIER_WEIGHTS) if self._tensors is None else self._tensors
        device = best_device()
        with loading():
            from transformers import AutoModel, AutoTokenizer

            model = AutoModel.from_pretrained(
                folder, local_files_only=True, add_pooling_layer=False
            ).eval()
        add_changes(model, tensors)
        model = model.to(device, self._dtype or best_dtype(device))
        self._layers = ExitStack()  # for as long as there is a model
        self._layers.enter_context(cpu_layers(model, rows=512))
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        head = (tensors[f"{_HEAD}.{part}"].float().to(device) for part in ("weight", "bias"))
        return model, tokenizer, *head

    def probabilities(self, sentence: str, excerpts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) the probability that each excerpt supports the sentence, 0 to 1.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        import torch

        if not excerpts:
            return np.zeros(0, np.float32)
        with self._loading:
            model, tokenizer, weight, bias = self._encoder
        inputs = tokenizer(
            [sentence] * len(excerpts),
            list(excerpts),
            truncation="longest_first",
            max_length=LONGEST,
            padding=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            states = model(**{name: each.to(model.device) for name, each in inputs.items()})
            logits = states.last_hidden_state[:, 0].float() @ weight[0] + bias
            return np.asarray(logits.sigmoid().cpu().numpy(), np.float32)
