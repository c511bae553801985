"""What the cross-encoder is given and what it says, as arrays, whatever computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.reader.stretch import Tokens
from indexing.models.files import LARGE_ENCODER, MULTILINGUAL_ENCODER, PACKAGED_PART

READER_WEIGHTS = Path(__file__).with_name("reader.safetensors")
SECOND_WEIGHTS = Path(__file__).with_name("second_reader.safetensors")
LARGE_WEIGHTS = Path(__file__).with_name("large_reader.safetensors")
PACKAGED_READERS = {
    PACKAGED_PART: (READER_WEIGHTS,),
    MULTILINGUAL_ENCODER: (READER_WEIGHTS, SECOND_WEIGHTS),
    LARGE_ENCODER: (READER_WEIGHTS, SECOND_WEIGHTS, LARGE_WEIGHTS),
}
"""The files of those that ship, by name."""


FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Stretches, padded on the right."""

    ids: NDArray[np.int64]  # (n, t) int64 token ids
    mask: NDArray[np.int64]  # (n, t) int64, 1 where there is a token
    types: NDArray[np.int64]  # (n, t) int64, 1 for the stretch, 0 for the question
    choice: NDArray[np.bool_]  # (n, t) whether an answer may begin or end here; `[CLS]`: none
    members: FloatArray  # (n, s, t) float32, share of each token in each sentence's mean

    @classmethod
    def of(cls, stretches: Sequence[Tokens]) -> Inputs:
        """Padded to the longest."""
        size, width = len(stretches), max(len(one.ids) for one in stretches)
        ids = np.zeros((size, width), np.int64)
        members = np.zeros((size, max(len(one.places) for one in stretches), width), np.float32)
        for row, one in enumerate(stretches):
            ids[row, : len(one.ids)] = one.ids
            for number, (start, end) in enumerate(one.places):
                members[row, number, start:end] = 1 / max(1, end - start)
        lengths = np.array([[len(one.ids)] for one in stretches])
        firsts = np.array([[one.first] for one in stretches])
        at = np.arange(width)
        mask, types = at < lengths, (at >= firsts) & (at < lengths)
        choice = (types & (at < lengths - 1)) | (at == 0)
        return cls(ids, mask.astype(np.int64), types.astype(np.int64), choice, members)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the order above."""
        return self.ids, self.mask, self.types, self.choice, self.members


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the heads say."""

    starts: FloatArray  # (n, t) float32 logits of the answer's first token; `[CLS]` for none
    ends: FloatArray  # (n, t) of its last token
    answerable: FloatArray  # (n,) that the stretch answers
    relevant: FloatArray  # (n, s) that each sentence answers
