"""SelfExtend: near tokens keep their distance, far ones share grouped positions.

Jin et al., arXiv 2401.01325; bidirectional as in LongEmbed (arXiv 2404.12096, section 4.2). The
definition has three n x n score matrices; here the same sums run a block of queries at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension.batch import current_batch
from indexing.extension.method import Extension
from indexing.extension.selftest import PROBE
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import FULL, SLIDING, Architecture
from indexing.nn.hooks import forward_hook

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer
    from torch import Tensor, nn

    from indexing.nn.banded_attention import Band

Turns: TypeAlias = "tuple[Tensor, Tensor]"
"""Cos and sin of the angles at some positions."""

ATTENTION = "rag_app_self_extend"
"""The name under which transformers knows the attention function."""


@dataclass(frozen=True, kw_only=True)
class SelfExtend(Extension):
    """Attention with two kinds of distances, for neighbour window w and group size g.

    A pair nearer than w has its ordinary positions. A pair further apart has i // g + w - w // g
    for the later token and j // g for the earlier one. Texts within the original window are
    encoded exactly as before. A layer whose sliding window is no longer than the original window
    is left alone: it never sees a distance that it was not trained on.
    """

    name: ClassVar[str] = "self-extend"
    works_on = WORKS_ON[name]

    group: int | None = None  # g; None takes s + 1, with s = ceil(L_t / L_o)
    neighbours: int | None = None  # w; None takes L_o // s

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.group or 1, self.neighbours or 1) < 1:
            msg = f"group and neighbours must be positive: {self.group}, {self.neighbours}"
            raise InvalidRequest(msg)

    def check(self, arch: Architecture) -> None:
        """Refuses models all of whose layers are local: it would change nothing."""
        super().check(arch)
        window = self.window(arch)
        if all(reach is not None and reach <= window for reach in arch.windows):
            widest = max(reach or 0 for reach in arch.windows)
            msg = (
                f"every layer of {arch.class_name} sees only {widest} tokens back, so "
                "self-extend changes nothing; use pcw, or set sliding_window to null in its config"
            )
            raise UnsupportedModel(msg)

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """No rotation in the rotary module, and an attention function that rotates by itself."""
        assert arch.rotary is not None
        original = self.window(arch)
        s = self.stretch(arch)
        active = _ActiveSelfExtend(
            arch=arch,
            implementation=arch.backbone.config._attn_implementation,
            original=original,
            group=self.group or s + 1,
            neighbours=self.neighbours or max(1, original // s),
        )
        yield forward_hook(arch.rotary.module, active.suppress_rotation)
        yield _grouped_attention(active)

    def identity(self) -> Self | None:
        """With g = 1, where grouped positions are the ordinary ones."""
        return replace(self, original=4, max_length=PROBE, group=1, neighbours=2)

    def active(self) -> Self | None:
        """With groups of three past a distance of two."""
        return replace(self, original=4, max_length=PROBE, group=3, neighbours=2)


@dataclass(frozen=True, slots=True, eq=False)
class _ActiveSelfExtend:
    """SelfExtend on one model."""

    arch: Architecture  # the model
    implementation: str  # the attention implementation that it had
    original: int  # L_o
    group: int  # g
    neighbours: int  # w

    def has_long_sequence(self) -> bool:
        """Whether the batch holds a sequence beyond the original window."""
        return bool(current_batch().longer_than(self.original).any())

    def suppress_rotation(
        self, _: nn.Module, __: object, ___: object, output: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor] | None:
        """Cos of 1 and sin of 0, so that queries and keys are not rotated."""
        if not self.has_long_sequence():
            return None
        cos, sin = output
        return cos.new_ones(cos.shape), sin.new_zeros(sin.shape)

    def bands(self, queries: Tensor, keys: Tensor, sliding: int | None) -> list[Band]:
        """The bands of one sequence: queries (H, n, D) and keys (K, n, D), neither rotated."""
        import torch

        from indexing.nn.banded_attention import Band
        from indexing.nn.rope import cos_sin, rotate

        assert self.arch.rotary is not None
        n, w, g = queries.shape[1], self.neighbours, self.group
        at = torch.arange(n, device=queries.device)
        inverse, gain = self.arch.rotary.frequencies(FULL if sliding is None else SLIDING)

        def band(query_at: Turns, key_at: Turns, low: int, high: int) -> Iterator[Band]:
            low = max(low, 0) if self.arch.causal else low
            reach = n if sliding is None else sliding - 1
            low, high = max(low, -reach), min(high, reach)
            if low <= high:
                yield Band(rotate(queries, *query_at), rotate(keys, *key_at), low, high)

        own = cos_sin(at, inverse, gain)
        local = sliding is not None and sliding <= self.original
        if n <= self.original or local:
            return [*band(own, own, -n, n)]
        group, far = (cos_sin(some, inverse, gain) for some in (at // g, at // g + w - w // g))
        return [
            *band(own, own, 1 - w, w - 1),
            *band(far, group, w, n),
            *band(group, far, -n, -w),
        ]


# Which configs stand for models that are extended now. transformers hands its attention functions
# the module and its mask functions the config, and the one leads to the other.
_active: dict[int, _ActiveSelfExtend] = {}


@contextmanager
def _grouped_attention(active: _ActiveSelfExtend) -> Iterator[None]:
    """Makes the model use `_attention`; transformers knows it by name from the first use on."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(ATTENTION, _attention)
    AttentionMaskInterface.register(ATTENTION, _mask)
    config = active.arch.backbone.config
    if id(config) in _active:
        raise InvalidRequest("self-extend is already applied to this model; leave that first")
    _active[id(config)] = active
    config._attn_implementation = ATTENTION
    try:
        yield
    finally:
        config._attn_implementation = active.implementation
        del _active[id(config)]


def _mask(**arguments: object) -> Tensor | None:
    """No mask for batches with long sequences, since `_attention` goes by lengths."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    active = _active[id(arguments["config"])]
    if active.has_long_sequence():
        return None
    mask: Tensor | None = ALL_MASK_ATTENTION_FUNCTIONS[active.implementation](**arguments)
    return mask


def _attention(  # noqa: PLR0913  the signature belongs to transformers
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **others: object,
) -> tuple[Tensor, Tensor | None]:
    """Attention of a batch, a sequence at a time: (B, H, T, D) to (B, T, H, D)."""
    from indexing.nn.banded_attention import attend

    active = _active[id(module.config)]
    if not active.has_long_sequence():
        return _original_attention(active, module)(
            module, query, key, value, attention_mask,
            scaling=scaling, dropout=dropout, sliding_window=sliding_window, **others,
        )  # fmt: skip
    if dropout:
        raise InvalidRequest("self-extend is for encoding, not for training; call model.eval()")
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    output = query.new_zeros(query.shape[0], query.shape[2], query.shape[1], value.shape[-1])
    for row, real in enumerate(current_batch().real):
        some = slice(None) if bool(real.all()) else real
        q, k, v = query[row][:, some], key[row][:, some], value[row][:, some]
        output[row, some] = attend(active.bands(q, k, sliding_window), v, scaling)
    return output, None


def _original_attention(
    active: _ActiveSelfExtend, module: nn.Module
) -> Callable[..., tuple[Tensor, Tensor | None]]:
    """The attention function that the model had."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    function: Callable[..., tuple[Tensor, Tensor | None]]
    function = ALL_ATTENTION_FUNCTIONS.get_interface(active.implementation, eager)
    return function
