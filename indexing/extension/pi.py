"""PI, linear interpolation of positions (Chen et al., 2306.15595; LongEmbed, 2404.12096, 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from indexing.extension.batch import Batch, Scale
from indexing.extension.method import Extension
from indexing.extension.positions import Places, placed
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import Family

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True)
class InterpolatedPositions(Extension):
    """Token i gets position i / s: between two rows of a learned table, or turned by less.

    Past the last row there is no right neighbour; the row stands alone. Texts within the original
    window have s = 1, that is the original rows, and are encoded exactly as before. Longer ones
    have s = ceil(L_t / L_o), or with `scale="own"` ceil(n / L_o) of their own length n.
    """

    name: ClassVar[str] = "pi"
    works_on = WORKS_ON[name]

    scale: Scale = "target"

    def changes(
        self, model: SentenceTransformer, family: Family
    ) -> Iterable[AbstractContextManager[object]]:
        """Other, fractional positions."""
        original = self.window(family)

        def placing(batch: Batch) -> Places:
            s = batch.stretch(original, self.max_length, self.scale)[:, None]
            return Places(batch.positions // s, (batch.positions % s) / s)

        yield placed(family, placing, original)
