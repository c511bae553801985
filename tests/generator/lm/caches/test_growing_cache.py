"""A cache with room holds what transformers' own holds, whatever is done to both."""

from __future__ import annotations

import copy

import pytest
import torch
from transformers.cache_utils import DynamicCache

from generator.lm.caches.growing_cache import make_growing
from generator.lm.caches.prefix_cache import crop


def pair(first: int) -> tuple[DynamicCache, DynamicCache]:
    """A cache of so many tokens, without and with room."""
    plain = DynamicCache()
    for layer in range(2):
        append(plain, layer, first, seed=0)
    return plain, make_growing(copy.deepcopy(plain))


def append(cache: DynamicCache, layer: int, count: int, *, seed: int) -> tuple[torch.Tensor, ...]:
    random = torch.Generator().manual_seed(100 * seed + layer)
    keys, values = torch.randn(2, 3, 2, count, 4, generator=random)
    return tuple(cache.update(keys, values, layer))


def both_append(caches: tuple[DynamicCache, DynamicCache], count: int, *, seed: int) -> None:
    for layer in range(2):
        wanted, found = (append(cache, layer, count, seed=seed) for cache in caches)
        for one, other in zip(wanted, found, strict=True):
            assert torch.equal(one, other)
    assert caches[0].get_seq_length() == caches[1].get_seq_length()


@pytest.mark.parametrize("first", [1, 30])
def test_the_same_keys_and_values(first: int) -> None:
    caches = pair(first)
    for i, count in enumerate([1, 1, 1, 40, 1, 300, 1, 1], start=1):
        both_append(caches, count, seed=i)


def test_most_steps_copy_nothing() -> None:
    _, cache = pair(30)
    places = []
    for i in range(100):
        append(cache, 0, 1, seed=i)
        places.append(cache.layers[0].keys.data_ptr())
    assert len(set(places)) == 1


@pytest.mark.parametrize("change", ["crop", "cut", "select", "repeat"])
def test_after_a_change(change: str) -> None:
    caches = pair(30)
    both_append(caches, 1, seed=1)
    for cache in caches:
        if change == "crop":
            cache.crop(-7)
        elif change == "cut":
            crop(cache, 12)
        elif change == "select":
            cache.batch_select_indices(torch.tensor([2, 0, 2]))
        else:
            cache.batch_select_indices(torch.tensor([1]))
            cache.batch_repeat_interleave(3)
    for i in range(2, 5):
        both_append(caches, 1, seed=i)


def test_a_copy_grows_by_itself() -> None:
    plain, cache = pair(30)
    both_append((plain, cache), 1, seed=1)
    other, plain_other = copy.deepcopy(cache), copy.deepcopy(plain)
    both_append((plain, cache), 1, seed=2)
    both_append((plain_other, other), 1, seed=3)
    both_append((plain, cache), 1, seed=4)


def test_room_is_given_once() -> None:
    _, cache = pair(5)
    update = cache.layers[0].update
    assert make_growing(cache).layers[0].update == update
