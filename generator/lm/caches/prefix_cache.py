"""Keys and values of earlier prompts, so that a shared prefix is read only once.

The least recently used are forgotten first, when all together take more than a number of bytes.
What is kept is found by its token ids, so by its content; a model that computes in another way
(`tag`) does not find it. Only caches that keep every token can be cut and used again: those of
models with sliding windows or recurrent states never are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cachetools import LRUCache

if TYPE_CHECKING:
    import torch

MAX_BYTES = 512 << 20
_SHORTEST = 16  # tokens; less is read again sooner than looked up

Ids = tuple[int, ...]
Layers = tuple[tuple["torch.Tensor", "torch.Tensor"], ...]
"""Of each layer the keys and the values, (num_kv_heads, tokens, head_dim)."""

Key = TypeVar("Key", bound=Hashable)
Entry = TypeVar("Entry")


class _BoundedCache(Generic[Key, Entry]):
    """Entries by a key of token ids; the least recently used go first. Threads may share one."""

    def __init__(self, max_bytes: int, getsizeof: Callable[[Entry], int]) -> None:
        self._entries: LRUCache[Key, Entry] = LRUCache(max_bytes, getsizeof)
        self._getsizeof = getsizeof
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> int:
        """What all entries take."""
        return int(self._entries.currsize)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def _store(self, key: Key, entry: Entry) -> None:
        """Replace an entry; one that is larger than the cache is left out."""
        with self._lock:
            self._entries.pop(key, None)
            if self._getsizeof(entry) <= self._entries.maxsize:
                self._entries[key] = entry


class PrefixCache(_BoundedCache[tuple[Hashable, Ids], Any]):
    """What a model has read, by its token ids, at most so many bytes. Threads may share one."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(max_bytes, _bytes)

    def take(self, ids: Sequence[int], *, tag: Hashable = None) -> tuple[Any, int]:
        """The cache that shares the longest beginning with a prompt, cut to it, and its length.

        It is the taker's from then on, and no longer kept: give it back with `keep`. At least the
        last token of the prompt is never in it, as somebody has to ask what follows.

        Returns:
            None and 0 where nothing of use is kept.
        """
        prompt = tuple(ids)
        with self._lock:
            matches = [
                (_shared(known, prompt[:-1]), key)
                for key in self._entries
                for owner, known in [key]
                if owner == tag
            ]
            length, key = max(matches, key=lambda pair: pair[0], default=(0, None))
            if key is None or length < _SHORTEST:
                return None, 0
            cache = self._entries.pop(key)
        crop(cache, length)
        return cache, length

    def keep(self, ids: Sequence[int], cache: Any, *, tag: Hashable = None) -> None:  # noqa: ANN401
        """Keep the cache of the tokens that it was filled with, if it can be cut."""
        if cache is None or not is_reusable(cache) or len(ids) < _SHORTEST:
            return
        self._store((tag, tuple(ids)), cache)


class RowCache(_BoundedCache[Ids, Layers]):
    """Keys and values of whole prefixes, each for one row of a batch. Threads may share one."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(max_bytes, _size)

    def get(self, ids: Ids) -> Layers | None:
        """The keys and values of a prefix, or None."""
        with self._lock:
            return self._entries.get(ids)

    def put(self, ids: Ids, layers: Layers) -> None:
        """Keep those of a prefix."""
        self._store(ids, layers)


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """Rows of different lengths as one batch, shorter ones padded on the left."""

    cache: Any  # a transformers cache of k rows
    mask: torch.Tensor  # (k, n) int64, 0 where a row is padded


def is_reusable(cache: Any) -> bool:  # noqa: ANN401 - any transformers cache
    """Whether a cache keeps the keys of every token, so that it can be cut anywhere."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    return isinstance(cache, DynamicCache) and all(
        type(layer) is DynamicLayer for layer in cache.layers
    )


def crop(cache: Any, length: int) -> None:  # noqa: ANN401
    """Forget all but the first tokens; what they took is given back."""
    for layer in cache.layers:
        if layer.get_seq_length() > length:
            layer.keys = layer.keys[..., :length, :].contiguous()
            layer.values = layer.values[..., :length, :].contiguous()


def unpad_rows(cache: Any, lengths: Sequence[int]) -> list[Layers]:  # noqa: ANN401
    """Each row of a batch that was padded on the left, without its padding."""
    return [
        tuple(
            (layer.keys[i, :, -n:].clone(), layer.values[i, :, -n:].clone())
            for layer in cache.layers
        )
        for i, n in enumerate(lengths)
    ]


def pad_rows(each: Sequence[Layers]) -> PaddedRows:
    """Rows as one batch; a row's keys know their positions, wherever they lie."""
    import torch
    from torch.nn.functional import pad
    from transformers.cache_utils import DynamicCache

    lengths = [layers[0][0].shape[1] for layers in each]
    longest = max(lengths)
    data = [
        tuple(
            torch.stack(
                [
                    pad(layers[i][side], (0, 0, longest - n, 0))
                    for layers, n in zip(each, lengths, strict=True)
                ]
            )
            for side in (0, 1)
        )
        for i in range(len(each[0]))
    ]
    device = data[0][0].device
    first = longest - torch.tensor(lengths, device=device)
    mask = (torch.arange(longest, device=device) >= first[:, None]).long()
    return PaddedRows(DynamicCache(data), mask)


def _shared(one: Ids, two: Ids) -> int:
    """How many first tokens are the same."""
    length = min(len(one), len(two))
    if one[:length] == two[:length]:
        return length
    return next(i for i in range(length) if one[i] != two[i])


def _bytes(cache: Any) -> int:  # noqa: ANN401
    """What a cache takes, with the room in which it grows."""
    current = (side for layer in cache.layers for side in (layer.keys, layer.values))
    return sum(side.untyped_storage().nbytes() for side in current)


def _size(layers: Layers) -> int:
    return sum(keys.nbytes + values.nbytes for keys, values in layers)
