"""How often a name occurs in the last sentence is what counting by hand gives."""

from __future__ import annotations

import torch

from training.cope import last_sentence
from training.cope.last_sentence import PADDING, QUESTION, STOP
from training.cope.task import NOT_ASKED


def test_occurrences_in_the_last_sentence_alone() -> None:
    task, stops = last_sentence.task(5), {"": range(1, 6), "long": range(6, 11)}
    for name, split in task.splits.items():
        batch = split(60, torch.Generator().manual_seed(4))
        for padded, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
            tokens = [token for token in padded if token != PADDING]
            written = tokens[: tokens.index(QUESTION)]
            assert written.count(STOP) in stops[name]
            reversed_ = written[-2::-1]  # from the end, without the last stop
            last = reversed_[: reversed_.index(STOP)] if STOP in reversed_ else reversed_
            expected = [NOT_ASKED] * len(padded)
            for at in range(len(written) + 1, len(tokens), 2):
                expected[at] = last.count(tokens[at])
            assert targets == expected
        assert batch.tokens.shape[1] <= task.longest
