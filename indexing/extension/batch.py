"""What a method needs to know of the current batch: real tokens, lengths, positions.

Everything is counted for each sequence by itself, so that no method can depend on the padded
length of the batch. A hook on the model notes the batch as it comes in; the hooks of the methods
ask for it with `current_batch()`. One thread encodes one batch at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from indexing.errors import InvalidRequest
from indexing.nn.hooks import forward_hook, pre_forward_hook

if TYPE_CHECKING:
    from torch import Tensor

    from indexing.nn.architecture import Architecture

Scale = Literal["target", "own"]

_thread = threading.local()


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """One batch of B sequences, padded to T tokens."""

    real: Tensor  # bool (B, T), which tokens are not padding
    # bool (B, T), which tokens have a position; it differs from `real` only for RoBERTa-like
    # models, which give no position to a padding token spelt out in a text
    positioned: Tensor
    lengths: Tensor  # int64 (B,), real tokens of each sequence

    @property
    def positions(self) -> Tensor:
        """Int64 (B, T): the position of each token from 0, wherever the padding is."""
        return (self.positioned.long().cumsum(dim=1) - 1).clamp(min=0)

    def longer_than(self, tokens: int) -> Tensor:
        """Bool (B,): which sequences are longer than that."""
        return self.lengths > tokens

    def stretch(self, original: int, target: int, scale: Scale) -> Tensor:
        """Int64 (B,): s of each sequence, 1 within the original window.

        Beyond it, s is ceil(L_t / L_o) for "target" and ceil(n / L_o) for "own".
        """
        reach = self.lengths if scale == "own" else self.lengths.new_full((), target)
        s = (reach + original - 1) // original
        return s.where(self.longer_than(original), self.lengths.new_ones(()))


def current_batch() -> Batch:
    """The batch that this thread is encoding.

    Raises:
        InvalidRequest: The model's `forward` was called directly, past the hooks.
    """
    batch: Batch | None = getattr(_thread, "batch", None)
    if batch is None:
        msg = "the extended model does not know its batch; call the model itself, not its forward()"
        raise InvalidRequest(msg)
    return batch


@contextmanager
def track_batches(arch: Architecture, *, max_tokens: int | None) -> Iterator[None]:
    """Notes every batch that comes in; refuses sequences longer than `max_tokens`."""

    def note(_: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        inputs = args[0] if args and isinstance(args[0], Mapping) else kwargs
        ids = inputs["input_ids"] if "input_ids" in inputs else args[0]
        _thread.batch = _describe(ids, inputs.get("attention_mask"), arch.padding_id)
        if max_tokens is not None and bool(_thread.batch.longer_than(max_tokens).any()):
            got = int(_thread.batch.lengths.max())
            msg = f"a text of {got} tokens passed an encoder extended to {max_tokens}; shorten it"
            raise InvalidRequest(msg)

    def forget(*_: object) -> None:
        _thread.batch = None

    with ExitStack() as stack:
        for module in (arch.reader, arch.backbone):
            stack.enter_context(forward_hook(module, forget, always=True))
            stack.enter_context(pre_forward_hook(module, note))
        yield


def _describe(ids: Tensor, mask: Tensor | None, padding_id: int | None) -> Batch:
    real = ids.new_ones(ids.shape).bool() if mask is None else mask.bool()
    positioned = real if padding_id is None else ids != padding_id
    return Batch(real=real, positioned=positioned, lengths=real.sum(dim=1))
