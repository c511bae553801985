"""What is read is what was written last."""

from __future__ import annotations

import pytest
import torch

from training.cope import flip_flop
from training.cope.flip_flop import IGNORE, READ, WRITE
from training.cope.task import NOT_ASKED


@pytest.mark.parametrize("split", ["", "sparse", "dense"])
def test_the_bit_written_last(split: str) -> None:
    batch = flip_flop.task(24).splits[split](200, torch.Generator().manual_seed(2))
    ignored = 0
    for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        kept = None
        for at in range(0, len(tokens), 2):
            bit = tokens[at + 1] if at + 1 < len(tokens) else targets[at]
            ignored += tokens[at] == IGNORE
            if tokens[at] == WRITE:
                kept = bit
            assert targets[at] == (kept if tokens[at] == READ else NOT_ASKED)
            assert tokens[at] != READ or bit == kept
        assert tokens[0] == WRITE
        assert tokens[-1] == READ
        assert set(targets[1::2]) == {NOT_ASKED}
    expected = {"": 0.8, "sparse": 0.98, "dense": 0.1}[split] * 22 / 24
    assert ignored / (200 * 24) == pytest.approx(expected, abs=0.02)
