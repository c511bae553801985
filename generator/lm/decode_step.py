"""Token ids and a cache in, logits out: single tokens on a CPU in compiled code.

Prefill is bound by arithmetic, and PyTorch is good at that. A single token is bound by the reading
of all weights and by some thousand small calls. Models of the Llama kind take it in one call of
compiled code (`c/step.c`), in float32 throughout, with the model's own cache. The matrices of a
quantized GGUF file are read by the codes and scales that were kept when it was converted: the same
weights in a quarter to a half of the bytes. No other weight is ever rounded.

Whatever this does not know, it leaves to the model: other architectures, devices and caches, hooks
other than those of Ms-PoE, machines without a compiler.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.lm.caches.growing_cache import make_growing
from generator.lm.caches.prefix_cache import is_reusable
from generator.lm.compiled_llama import KINDS, CompiledLlama
from indexing.kernels.library import Unavailable, compiler_name
from indexing.nn.hooks import override_attribute

if TYPE_CHECKING:
    from torch import Tensor, nn

_MARK = "_rag_app_decode_step"
_FEW = 4  # tokens that are sooner read one by one than as a matrix


@contextmanager
def compiled_steps(model: nn.Module, folder: Path | None = None) -> Iterator[DecodeStep]:
    """Lets `forward` take single tokens in compiled code; a model without files has no folder."""
    decode_step = DecodeStep(model, folder)
    with override_attribute(model, _MARK, decode_step):
        yield decode_step


def forward(
    model: Any,  # noqa: ANN401 - any transformers model, inside `compiled_steps` or not
    ids: Tensor,  # (B, n) int64
    cache: Any,  # noqa: ANN401 - keys and values of the tokens before them, or None
    *,
    mask: Tensor | None = None,  # (B, all before and n) int64, 0 where a row is padded
    last: bool = True,  # whether only the scores after the last token are wanted
) -> tuple[Tensor, Any]:
    """Read tokens after those of a cache: logits (B, 1 or n, V), and the cache, which has grown."""
    import torch

    decode_step: DecodeStep | None = getattr(model, _MARK, None)
    with torch.inference_mode():
        if decode_step is not None and ids.shape[1] <= _FEW:
            logits = decode_step.logits(ids, cache, mask)
            if logits is not None:
                return (logits[:, -1:] if last else logits), cache
        positions: dict[str, Tensor] = {}
        if mask is not None:
            at = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            positions = {"attention_mask": mask, "position_ids": at}
        out = model(
            input_ids=ids,
            past_key_values=cache,
            use_cache=True,
            **positions,
            **(last_only(model) if last else {}),
        )
        return out.logits, make_growing(out.past_key_values)


def engine_here() -> str:
    """Which code takes single tokens on this machine's cpu; nothing is compiled to know."""
    try:
        return f"compiled by {compiler_name()}, for models of the kinds {', '.join(KINDS)}"
    except Unavailable as error:
        return f"transformers ({error})"


def last_only(model: Any) -> dict[str, int]:  # noqa: ANN401
    """The argument that limits logits to the last token, where a model has one."""
    import inspect

    takes = inspect.signature(model.forward).parameters
    return {"logits_to_keep": 1} if "logits_to_keep" in takes else {}


@dataclass(eq=False)
class DecodeStep:
    """How a model takes single tokens."""

    model: Any
    folder: Path | None = None
    _compiled: CompiledLlama | None = None
    _reason: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __deepcopy__(self, memo: dict[int, Any]) -> DecodeStep:
        return DecodeStep(copy.deepcopy(self.model, memo), self.folder)

    def logits(self, ids: Tensor, cache: Any, mask: Tensor | None) -> Tensor | None:  # noqa: ANN401
        """Logits (B, n, V) after few tokens, or None where the model has to read them itself."""
        import torch

        if cache is None or not is_reusable(cache) or not cache.get_seq_length():
            return None
        compiled = self.compiled()
        if compiled is None or not compiled.is_unmodified():
            return None
        starts = _starts(ids, mask)
        scales = compiled.scales(cache, len(ids))
        if starts is None or scales is None:
            return None
        return torch.stack(
            [compiled.step(token, cache, starts, scales) for token in ids.unbind(1)], 1
        )

    def compiled(self) -> CompiledLlama | None:
        """Made on first use; None where it cannot be."""
        with self._lock:
            if self._compiled is None and self._reason is None:
                try:
                    self._compiled = CompiledLlama.build(self.model, self.folder)
                except Unavailable as error:
                    self._reason = str(error)
        return self._compiled

    def engine(self) -> str:
        """Which code takes single tokens, and why not the compiled one; prepares it."""
        compiled = self.compiled()
        if compiled is None:
            return f"transformers ({self._reason})"
        return f"compiled, {compiled.quantized} of {compiled.matrices} matrices quantized"


def _starts(ids: Tensor, mask: Tensor | None) -> Tensor | None:
    """(B,) the first token of each row that is no padding; None if some padding is elsewhere."""
    if mask is None:
        return ids.new_zeros(len(ids))
    starts = mask.shape[1] - mask.sum(dim=1)
    return starts if bool((mask.argmax(dim=1) == starts).all()) else None
