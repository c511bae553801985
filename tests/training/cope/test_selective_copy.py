"""What is to be copied is what stands there, without blanks."""

from __future__ import annotations

import torch

from training.cope import selective_copy
from training.cope.selective_copy import BLANK, COLON
from training.cope.task import NOT_ASKED


def test_the_tokens_that_are_no_blanks_in_order() -> None:
    task, blanks = selective_copy.task(8), {"": 8, "dense": 4, "sparse": 16}
    for name, split in task.splits.items():
        batch = split(20, torch.Generator().manual_seed(1))
        for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
            colon = tokens.index(COLON)
            mixed = tokens[:colon]
            copied = [token for token in mixed if token != BLANK]
            assert mixed.count(BLANK) == blanks[name]
            assert len(copied) == 8
            assert targets == [NOT_ASKED] * colon + copied
            assert tokens[colon + 1 :] == copied[:-1]  # each is shown once it has been asked
        assert batch.tokens.shape[1] <= task.longest
        assert int(batch.tokens.max()) < task.vocabulary
