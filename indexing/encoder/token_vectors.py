"""Vectors of texts of one token, cached on disk.

The words of evidence are embedded one by one, and most of them are one token of the vocabulary. A
file has a row for each token; one that nobody has needed yet is a hole. A row that is not of length
one is not there, so that one that was half written is computed again. Processes may write at once:
all write the same. Words that are not in the model's vocabulary, as most names, leave no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexing.encoder.pooling import FloatArray

_NUMBERS = np.dtype("<f4")
_TOLERANCE = 1e-3  # of a length


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A file of unit vectors.

    Attributes:
        path: The file; it need not exist, nor need it be possible to write it.
        dimension: Of a vector.
    """

    path: Path
    dimension: int

    def find(self, tokens: Sequence[int]) -> FloatArray:
        """(n, d) the vectors of tokens; a row of zeros for one that is not there."""
        vectors = np.zeros((len(tokens), self.dimension), np.float32)
        try:
            numbers = np.memmap(self.path, _NUMBERS, "r")
        except (OSError, ValueError):  # no such file, or an empty one
            return vectors
        rows = numbers[: len(numbers) // self.dimension * self.dimension]
        rows = rows.reshape(-1, self.dimension)
        there = np.array([token < len(rows) for token in tokens], bool)
        vectors[there] = rows[np.asarray(tokens, np.int64)[there]]
        lengths = np.linalg.norm(vectors, axis=1)
        vectors[~(np.abs(lengths - 1) <= _TOLERANCE)] = 0
        return vectors

    def keep(self, tokens: Sequence[int], vectors: FloatArray) -> None:
        """Write the vectors of tokens, (n, d), where that is possible."""
        with suppress(OSError):
            self.path.touch(0o600)
            with self.path.open("r+b") as file:
                for token, vector in zip(tokens, vectors, strict=True):
                    file.seek(token * self.dimension * _NUMBERS.itemsize)
                    file.write(vector.astype(_NUMBERS).tobytes())
