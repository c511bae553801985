"""RP, recurrent positions: positions start over after each window (LongEmbed, 2404.12096, 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from indexing.extension.batch import Batch
from indexing.extension.method import Extension
from indexing.extension.positions import PositionIds, override_positions
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import Architecture

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True)
class RecurrentPositions(Extension):
    """Token i gets position i mod L_o.

    There is no s: the target length only says where texts are cut. Texts within the original
    window are encoded exactly as before, since there i mod L_o = i.
    """

    name: ClassVar[str] = "rp"
    works_on = WORKS_ON[name]

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Other position ids."""
        original = self.window(arch)

        def assign(batch: Batch) -> PositionIds:
            return PositionIds(batch.positions % original)

        yield override_positions(arch, assign, original)
