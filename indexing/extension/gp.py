"""GP, grouped positions: s neighbours share one position (LongEmbed, arXiv 2404.12096, 4.1)."""

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
class GroupedPositions(Extension):
    """Token i gets position floor(i / s).

    Texts within the original window have s = 1 and are encoded exactly as before. Longer ones
    have s = ceil(L_t / L_o), or with `scale="own"` ceil(n / L_o) of their own length n.
    """

    name: ClassVar[str] = "gp"
    works_on = WORKS_ON[name]

    scale: Scale = "target"

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Other position ids."""
        original = self.window(arch)

        def assign(batch: Batch) -> PositionIds:
            s = batch.stretch(original, self.max_length, self.scale)
            return PositionIds(batch.positions // s[:, None])

        yield override_positions(arch, assign, original)
