"""No run of tokens twice: against transformers' own rule, and on the packaged model."""

from __future__ import annotations

import random

import pytest
import torch
from transformers import NoRepeatNGramLogitsProcessor

from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampler, Sampling, repeated_tokens
from indexing.errors import InvalidRequest


@pytest.mark.parametrize("length", [2, 3, 5])
def test_forbidden_tokens_are_those_of_transformers(length: int) -> None:
    choose = random.Random(length)
    for size in range(40):
        written = [choose.randrange(4) for _ in range(size)]
        oracle = NoRepeatNGramLogitsProcessor(length)(
            torch.tensor([written], dtype=torch.long), torch.zeros(1, 4)
        )
        wanted = {token for token in range(4) if oracle[0, token] == float("-inf")}
        assert repeated_tokens(written, length) == wanted
    assert repeated_tokens([1, 1, 1, 1], 0) == set()


def test_an_answer_that_would_go_round_goes_on() -> None:
    sample = Sampler(Sampling(no_repeat=3), torch.device("cpu"))
    logits = torch.arange(12.0)
    written = [sample(logits) for _ in range(12)]
    runs = [tuple(written[i : i + 3]) for i in range(10)]
    assert len(set(runs)) == len(runs)
    assert logits.isfinite().all()  # the caller's stay as they are
    free = Sampler(Sampling(), torch.device("cpu"))
    assert {free(logits) for _ in range(12)} == {11}


def test_the_packaged_model_repeats_nothing(model: CausalModel) -> None:
    frame = model.chat.frame("You are helpful.")
    begun = model.chat.content("the cat sat on the mat, and then " * 2 + "the cat")
    asked = model.chat.content("Say 'the cat sat on the mat, and then' a hundred times.")
    prompt = (*frame.head, *asked, *frame.tail, *begun)

    def most(no_repeat: int) -> int:
        how = Sampling(no_repeat=no_repeat)
        ids = list(model.tokens(prompt, sampling=how, limit=40))
        runs = [tuple(ids[i : i + 8]) for i in range(len(ids) - 7)]
        return max(map(runs.count, runs), default=0)

    assert most(0) > 1  # it would
    assert most(8) <= 1


def test_impossible_settings() -> None:
    with pytest.raises(InvalidRequest, match="no_repeat"):
        Sampling(no_repeat=1)
