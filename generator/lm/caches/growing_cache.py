"""A key/value cache that grows in place: a step writes one token, and copies nothing.

transformers' own cache copies all keys and values with each token. Here each layer keeps them in a
larger buffer; `keys` and `values` are its beginning, and may be cut as before. They must have one
owner: what was cut off is written over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.lm.caches.prefix_cache import is_reusable

if TYPE_CHECKING:
    from torch import Tensor

_LEAST = 128  # tokens that a buffer has beyond those it holds


def make_growing(cache: Any) -> Any:  # noqa: ANN401 - any transformers cache
    """The same cache, its layers with buffers to grow in; other kinds stay as they are."""
    if is_reusable(cache):
        for layer in cache.layers:
            if "update" not in layer.__dict__:
                layer.update = GrowingLayer(layer).update
    return cache


def growing_layers(cache: Any) -> list[GrowingLayer]:  # noqa: ANN401
    """What each layer of a cache grows in. The cache must be reusable."""
    return [layer.update.__self__ for layer in make_growing(cache).layers]


@dataclass(slots=True, eq=False)
class GrowingLayer:
    """What replaces the `update` of one layer."""

    layer: Any  # a `DynamicLayer` of transformers, keys and values (B, H, T, D)
    keys: Tensor | None = None  # (B, H, capacity, D), None before the first token
    values: Tensor | None = None  # the same for values

    def update(
        self, keys: Tensor, values: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Appends keys and values; all of them."""
        layer = self.layer
        if not layer.is_initialized:
            layer.lazy_initialization(keys, values)
        before = layer.get_seq_length()
        after = before + keys.shape[-2]
        self.keys = _reserve(self.keys, layer.keys, keys, before, after)
        self.values = _reserve(self.values, layer.values, values, before, after)
        self.keys[..., before:after, :] = keys
        self.values[..., before:after, :] = values
        self.set_length(after)
        return layer.keys, layer.values

    def reserve(self, length: int) -> tuple[Tensor, Tensor]:
        """Buffers of keys and values for so many tokens, which begin with those there are."""
        layer = self.layer
        before = layer.get_seq_length()
        self.keys = _reserve(self.keys, layer.keys, layer.keys, before, length)
        self.values = _reserve(self.values, layer.values, layer.values, before, length)
        return self.keys, self.values

    def set_length(self, length: int) -> None:
        """The first tokens of the buffers are what is held."""
        assert self.keys is not None and self.values is not None
        self.layer.keys = self.keys[..., :length, :]
        self.layer.values = self.values[..., :length, :]


def _reserve(
    buffer: Tensor | None, current: Tensor, like: Tensor, before: int, after: int
) -> Tensor:
    """A buffer for so many tokens that begins with what is held; the same one where it can be."""
    fits = buffer is not None and buffer.shape[-2] >= after and buffer.shape[0] == like.shape[0]
    if buffer is None or not fits or (before and current.data_ptr() != buffer.data_ptr()):
        capacity = after + max(_LEAST, after // 4)
        buffer = like.new_empty((*like.shape[:-2], capacity, like.shape[-1]))
        if before:
            buffer[..., :before, :] = current
    return buffer
