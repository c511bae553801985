"""Entropy attention scaling: sharper attention where there is more to attend to.

Attention queries are multiplied by max(1, log_{L_o} n) (Su, 2021; on by default in the released
code of LongEmbed, arXiv 2404.12096), which keeps the entropy of the attention weights about where
it was within the original window. It is a change of its own, and goes with every method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from indexing.extension.batch import current_batch
from indexing.extension.method import Change
from indexing.extension.selftest import PROBE
from indexing.nn.architecture import Architecture, Positions, queries
from indexing.nn.hooks import forward_hook

SUFFIX = "+entropy"
"""After the name of a method: with entropy scaling."""

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class EntropyScaling(Change):
    """Queries times max(1, log_{L_o} n); in a causal model max(1, log_{L_o}(i + 1)) at position i.

    n counts the sequence's own tokens, special ones included. Within the original window the
    factor is 1 and nothing changes. With PCW no window is longer than that, so nothing changes.
    """

    name: ClassVar[str] = "entropy scaling"
    works_on: ClassVar[frozenset[Positions]] = frozenset({"absolute", "rotary", "other"})

    original: int | None = None  # L_o, where the model's own figure is not what it was trained on

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """A factor on the queries of every attention layer."""
        original = self.original or arch.original

        def factors() -> Tensor:
            batch = current_batch()
            seen = batch.positions + 1 if arch.causal else batch.lengths[:, None]
            factor = seen.float().log() / math.log(original)
            return factor.where(seen > original, factor.new_ones(()))

        for module, share in queries(arch):
            yield forward_hook(module, _scale_queries(factors, share))

    def identity(self) -> Self | None:
        """With an original window as long as the probe."""
        return replace(self, original=PROBE)

    def active(self) -> Self | None:
        """With an original window of four tokens."""
        return replace(self, original=4)


def _scale_queries(factors: Callable[[], Tensor], share: int) -> Callable[..., Tensor]:
    """A hook that multiplies the first 1 / share of its output, (B, T, ...), by (B, T) factors."""

    def scale(_: object, __: object, ___: object, output: Tensor) -> Tensor:
        factor = factors()
        shaped = factor.view(*factor.shape, *[1] * (output.ndim - 2)).to(output.dtype)
        if share == 1:
            return output * shaped
        first = output.shape[-1] // share
        scaled = output.clone()
        scaled[..., :first] *= shaped
        return scaled

    return scale
