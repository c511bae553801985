"""Gives tokens other positions than their own: what GP, RP and PI have in common.

A method says where each token of a batch goes. Here that reaches the model: as rows of a learned
table (between two rows where a position is fractional), or as the position ids of a rotary module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest
from indexing.extension.batch import Batch, current_batch
from indexing.nn.architecture import SLIDING, Architecture, PositionTable, RotaryEmbedding
from indexing.nn.hooks import Inputs, forward_hook, pre_forward_hook

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True, eq=False)
class PositionIds:
    """Where tokens go, in whole and fractional parts, so that float32 loses nothing."""

    whole: Tensor  # int64 (B, T)
    # float32 (B, T) in [0, 1), or None where every position is whole
    fraction: Tensor | None = None


PositionMap = Callable[[Batch], PositionIds]


@contextmanager
def override_positions(arch: Architecture, assign: PositionMap, original: int) -> Iterator[None]:
    """Gives the tokens of every batch the positions that `assign` gives.

    Positions stay below `original`. Layers with a sliding window and a rotary module of their own
    (ModernBERT) keep their positions: no distance that they see is new to them.
    """
    if arch.table is not None:
        with _override_rows(arch.table, assign, original):
            yield
    elif arch.rotary is not None:
        with _override_rotary(arch.rotary, assign):
            yield


@contextmanager
def _override_rows(table: PositionTable, assign: PositionMap, original: int) -> Iterator[None]:
    if original > table.embedding.num_embeddings - table.offset:
        have = table.embedding.num_embeddings - table.offset
        msg = f"the model has {have} positions, not {original}; give a smaller original length"
        raise InvalidRequest(msg)
    last = table.offset + original - 1

    def replace_ids(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
        batch = current_batch()
        rows = assign(batch).whole + table.offset
        if table.offset:
            rows = rows.where(batch.positioned, rows.new_tensor(table.offset - 1))
        return with_position_ids(module, args, kwargs, rows)

    def interpolate(_: nn.Module, args: tuple[Tensor], __: object, output: Tensor) -> Tensor | None:
        fraction = assign(current_batch()).fraction
        if fraction is None:
            return None
        above = table.embedding.weight[(args[0] + 1).clamp(max=last)]
        return output.lerp(above, fraction[..., None].to(output.dtype))

    with pre_forward_hook(table.module, replace_ids), forward_hook(table.embedding, interpolate):
        yield


@contextmanager
def _override_rotary(rotary: RotaryEmbedding, assign: PositionMap) -> Iterator[None]:
    def replace_ids(
        module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Inputs | None:
        if is_local_call(rotary, module, args, kwargs):
            return None
        ids = assign(current_batch())
        total = ids.whole if ids.fraction is None else ids.whole + ids.fraction
        return with_position_ids(module, args, kwargs, total)

    with pre_forward_hook(rotary.module, replace_ids):
        yield


def is_local_call(
    rotary: RotaryEmbedding, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether a call of a rotary module is for local layers with frequencies of their own."""
    return rotary.by_layer and _bound(module, args, kwargs).get("layer_type") == SLIDING


def with_position_ids(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], ids: Tensor
) -> Inputs:
    """The arguments of a call with other position ids."""
    return (), {**_bound(module, args, kwargs), "position_ids": ids}


def _bound(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, all by name."""
    signature = inspect.signature(module.forward)
    bound = signature.bind(*args, **kwargs).arguments
    variable = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    for name in variable:
        bound.update(bound.pop(name, {}))
    return dict(bound)
