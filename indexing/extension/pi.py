"""PI, linear interpolation of positions (Chen et al., 2306.15595; LongEmbed, 2404.12096, 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from indexing.extension.batch import Batch, Scale
from indexing.extension.method import Extension
from indexing.extension.positions import PositionIds, override_positions
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import Architecture

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True)
class InterpolatedPositions(Extension):
    """Token i gets position i / s: between two rows of a learned table, or rotated by less.

    Past the last row there is no right neighbour; the row stands alone. Texts within the original
    window have s = 1, that is the original rows, and are encoded exactly as before. Longer ones
    have s = ceil(L_t / L_o), or with `scale="own"` ceil(n / L_o) of their own length n.
    """

    name: ClassVar[str] = "pi"
    works_on = WORKS_ON[name]

    scale: Scale = "target"

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Other, fractional positions."""
        original = self.window(arch)

        def assign(batch: Batch) -> PositionIds:
            s = batch.stretch(original, self.max_length, self.scale)[:, None]
            return PositionIds(batch.positions // s, (batch.positions % s) / s)

        yield override_positions(arch, assign, original)
