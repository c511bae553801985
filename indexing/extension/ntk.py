"""NTK-aware scaling: a larger rotary base (LongEmbed, arXiv 2404.12096, section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension.batch import Batch, Scale, current_batch
from indexing.extension.method import Extension
from indexing.extension.selftest import PROBE
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import FULL, Architecture
from indexing.nn.hooks import forward_hook

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer
    from torch import Tensor, nn

    CosSin = tuple[Tensor, Tensor]

PUBLISHED = {1: 1.0, 2: 3.0, 4: 5.0, 8: 10.0}
"""The paper's factors on the base for s = 2, 4, 8."""


def base_factor(s: int) -> float:
    """Lambda for a stretch of s: the paper's where it gives one.

    Between those it lies on the straight line through them in log s and log lambda; past 8 it
    goes on as 10 * s / 8, the slope of the last two.
    """
    if s >= 8:
        return PUBLISHED[8] * s / 8
    low = max(known for known in PUBLISHED if known <= s)
    if low == s:
        return PUBLISHED[s]
    high = min(known for known in PUBLISHED if known > s)
    share = math.log(s / low) / math.log(high / low)
    return float(PUBLISHED[low] * (PUBLISHED[high] / PUBLISHED[low]) ** share)


@dataclass(frozen=True, kw_only=True)
class NtkScaling(Extension):
    """The rotary base times lambda, with no further exponent.

    The paper's form (`length_aware=False`) changes short texts and queries too, which costs it on
    them. By default texts within the original window keep the original base and are encoded
    exactly as before; longer ones have lambda(s) with s = ceil(L_t / L_o), or with `scale="own"`
    ceil(n / L_o) of their own length n. Local layers with a base of their own keep it.
    """

    name: ClassVar[str] = "ntk"
    works_on = WORKS_ON[name]

    length_aware: bool = True  # leave texts within the original window alone
    factor: float | None = None  # lambda itself, instead of the one that belongs to s
    scale: Scale = "target"  # which length gives s

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.factor is not None and self.factor <= 0:
            raise InvalidRequest(f"the factor on the rotary base must be positive: {self.factor}")

    def check(self, arch: Architecture) -> None:
        """Refuses models whose frequencies are not powers of one base."""
        super().check(arch)
        assert arch.rotary is not None
        rope_type = arch.rotary.rope_types[FULL]
        if rope_type != "default":
            msg = f"ntk needs plain rotary positions, and {arch.class_name} has {rope_type}; use pi"
            raise UnsupportedModel(msg)

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Other cos and sin out of the rotary module."""
        from indexing.extension.positions import is_local_call
        from indexing.nn import rope

        rotary = arch.rotary
        assert rotary is not None
        original = self.window(arch)

        def rebase(
            module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: CosSin
        ) -> CosSin | None:
            if is_local_call(rotary, module, args, kwargs):
                return None
            batch = current_batch()
            inverse, gain = rotary.frequencies(FULL)
            factors = inverse.new_tensor(self._factors(batch, original))
            frequencies = rope.rescale_base(inverse, factors)[:, None, :]
            long = batch.longer_than(original if self.length_aware else 0)[:, None, None]
            new = rope.cos_sin(batch.positions, frequencies, gain)
            cos, sin = (n.to(o.dtype).where(long, o) for n, o in zip(new, output, strict=True))
            return cos, sin

        yield forward_hook(rotary.module, rebase)

    def _factors(self, batch: Batch, original: int) -> list[float]:
        """Lambda of each sequence."""
        stretch = batch.stretch(original, self.max_length, self.scale)
        if not self.length_aware:
            stretch = stretch.new_full(stretch.shape, -(-self.max_length // original))
        return [self.factor or base_factor(s) for s in stretch.tolist()]

    def identity(self) -> Self | None:
        """With a factor of 1."""
        return replace(self, original=4, max_length=PROBE, factor=1.0)

    def active(self) -> Self | None:
        """With an original window of four tokens."""
        return replace(self, original=4, max_length=PROBE, length_aware=True)
