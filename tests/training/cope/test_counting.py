"""The value that is asked is the one that an interpreter of the program has."""

from __future__ import annotations

import pytest
import torch

from training.cope import counting
from training.cope.counting import EQUALS, FIRST, INCREMENT, MOST, PADDING, PASS, PRINT, SEMICOLON
from training.cope.task import NOT_ASKED


def _interpreted(tokens: list[int]) -> list[int]:
    """What is to be asked after each token."""
    values: dict[int, int] = {}
    expected, at = [NOT_ASKED] * len(tokens), 0
    while at < len(tokens):
        if tokens[at] in (PASS, PADDING):
            at += 1
        elif tokens[at] == PRINT:
            expected[at + 1] = values[tokens[at + 1]]
            at += 2
        elif tokens[at + 1] == INCREMENT:
            values[tokens[at]] += 1
            at += 2
        else:
            assert tokens[at + 1 : at + 4] == [EQUALS, 0, SEMICOLON]
            values[tokens[at]] = 0
            at += 4
    assert all(value <= MOST for value in values.values())
    return expected


@pytest.mark.parametrize("variables", [1, 3, 5])
@pytest.mark.parametrize("split", ["", "long"])
def test_the_value_of_a_variable(variables: int, split: str) -> None:
    task = counting.task(variables)
    batch = task.splits[split](100, torch.Generator().manual_seed(3))
    for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert targets == _interpreted(tokens)
    asked = batch.targets[batch.targets != NOT_ASKED]
    assert set(asked.tolist()) >= set(range(6))
    assert set(batch.tokens[batch.tokens >= FIRST].tolist()) == {
        FIRST + n for n in range(variables)
    }
    assert batch.tokens.shape[1] <= task.longest
    assert int(batch.tokens.max()) < task.vocabulary
