"""What was read once is not read again, and changes no answer; kept within a number of bytes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from generator.decoding.mixture import prefill
from generator.lm.caches.prefix_cache import PrefixCache, RowCache, pad_rows, unpad_rows
from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampling

GREEDY = Sampling()
FIRST = list(range(100, 160))
SECOND = [*FIRST[:40], *range(200, 215)]


class Reads:
    """How many tokens a model reads, pass by pass."""

    def __init__(self, model: CausalModel) -> None:
        self.tokens: list[int] = []
        self.hook = model.model.register_forward_pre_hook(self.count, with_kwargs=True)

    def count(self, _: Any, __: Any, kwargs: dict[str, Any]) -> None:
        self.tokens.append(kwargs["input_ids"].numel())


@pytest.fixture
def reads(model: CausalModel) -> Any:
    model.prefixes.clear()
    model.decode_step.compiled()  # its self-test reads too
    track = Reads(model)
    yield track.tokens
    track.hook.remove()


def test_a_shared_beginning_is_read_once(model: CausalModel, reads: list[int]) -> None:
    one = list(model.tokens(FIRST, sampling=GREEDY, limit=3))
    two = list(model.tokens(SECOND, sampling=GREEDY, limit=3))
    assert reads[0] == 60
    assert len(one) == 3
    assert reads == [60, 1, 1, 15, 1, 1]
    model.prefixes.clear()
    assert list(model.tokens(SECOND, sampling=GREEDY, limit=3)) == two
    again = list(model.tokens(SECOND, sampling=GREEDY, limit=3))
    assert again == two
    assert reads[-3:] == [1, 1, 1]  # the last token of the same prompt is all that is read of it


def test_a_conversation_goes_on_where_it_was(model: CausalModel, reads: list[int]) -> None:
    said = list(model.tokens(FIRST, sampling=GREEDY, limit=4))
    longer = [*FIRST, *said, 300, 301, 302]
    reads.clear()
    warm = list(model.tokens(longer, sampling=GREEDY, limit=4))
    assert reads[0] <= 4  # the last token written and the three new ones
    model.prefixes.clear()
    assert list(model.tokens(longer, sampling=GREEDY, limit=4)) == warm


def test_scores_are_those_of_a_whole_pass(model: CausalModel) -> None:
    with torch.inference_mode():
        cache = model.model(input_ids=torch.tensor([FIRST]), use_cache=True).past_key_values
        kept = PrefixCache()
        kept.keep(FIRST, cache)
        again, known = kept.take(SECOND)
        assert known == 40
        assert len(kept) == 0
        rest = torch.tensor([SECOND[known:]])
        warm = model.model(input_ids=rest, past_key_values=again).logits[0, -1]
        cold = model.model(input_ids=torch.tensor([SECOND])).logits[0, -1]
    assert torch.allclose(warm, cold, atol=2e-3)
    assert (warm - cold).abs().max() < 1e-4 * cold.abs().max()


def test_rows_that_are_joined_equal_whole_prompts(model: CausalModel) -> None:
    prefixes, suffix = [FIRST, FIRST[:25], SECOND[:51]], [7, 8, 9]
    apart = unpad_rows(prefill(model.model, prefixes).cache, [60, 25, 51])
    before = pad_rows(apart)
    warm = prefill(model.model, [suffix] * 3, cache=before.cache, mask=before.mask).log_probs
    cold = prefill(model.model, [[*prefix, *suffix] for prefix in prefixes]).log_probs
    assert torch.allclose(warm, cold, atol=1e-3)
    assert before.mask.sum(dim=1).tolist() == [60, 25, 51]


def test_the_least_recently_used_go_first(model: CausalModel) -> None:
    with torch.inference_mode():
        caches = [
            model.model(input_ids=torch.tensor([[i] * 20]), use_cache=True).past_key_values
            for i in (50, 60, 70)
        ]
    layers = [unpad_rows(cache, [20])[0] for cache in caches]
    size = sum(keys.nbytes + values.nbytes for keys, values in layers[0])
    kept, single = PrefixCache(2 * size), RowCache(2 * size)
    for i, (cache, each) in enumerate(zip(caches, layers, strict=True)):
        kept.keep([50 + 10 * i] * 20, cache)
        single.put((i,), each)
        if i == 1:
            assert single.get((0,)) is layers[0]  # used, so that the other one goes
    assert len(kept) == len(single) == 2
    assert kept.bytes == single.bytes == 2 * size
    assert kept.take([50] * 21) == (None, 0)
    assert kept.take([70] * 21)[1] == 20
    assert single.get((1,)) is None
    nothing = PrefixCache(0)
    nothing.keep([50] * 20, caches[0])
    assert len(nothing) == 0


def test_what_was_read_otherwise_is_not_taken(model: CausalModel) -> None:
    with torch.inference_mode():
        cache = model.model(input_ids=torch.tensor([FIRST]), use_cache=True).past_key_values
    kept = PrefixCache()
    kept.keep(FIRST, cache, tag="one method")
    assert kept.take(FIRST) == (None, 0)
    assert kept.take(FIRST, tag="another") == (None, 0)
    assert kept.take(FIRST, tag="one method")[1] == 59


def test_caches_that_cannot_be_cut_are_not_kept() -> None:
    from transformers import AutoModelForCausalLM, MistralConfig

    config = MistralConfig(
        vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, sliding_window=8,
    )  # fmt: skip
    sliding = AutoModelForCausalLM.from_config(config).eval()
    cache = sliding(input_ids=torch.tensor([[5] * 30]), use_cache=True).past_key_values
    kept = PrefixCache()
    kept.keep([5] * 30, cache)
    assert len(kept) == 0
