"""The vectors of a document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """The vectors of one document.

    Attributes:
        vector: (d,) float32, unit length.
        passages: (passages, d) float32; unit rows, or zero rows for passages past a truncation.
        tokens: Tokens of the whole text.
        encoded: Tokens that went through the model; less than `tokens` only under "none".
    """

    vector: FloatArray
    passages: FloatArray
    tokens: int
    encoded: int
