"""Gives tokens other positions than their own: what GP, RP and PI have in common.

A method says where each token of a batch goes. Here that reaches the model: as rows of a learned
table (between two rows where a position is fractional), or as what a rotary module turns by.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest
from indexing.extension.batch import Batch, now
from indexing.nn.architecture import SLIDING, Family, Rotary, Table
from indexing.nn.hooks import Inputs, after, before

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where tokens go, in whole and fractional parts, so that float32 loses nothing.

    Attributes:
        whole: Int64 (B, T).
        part: Float32 (B, T) in [0, 1), or None where every position is whole.
    """

    whole: Tensor
    part: Tensor | None = None


Placing = Callable[[Batch], Places]


@contextmanager
def placed(family: Family, placing: Placing, original: int) -> Iterator[None]:
    """Gives the tokens of every batch the positions that `placing` names.

    Positions stay below `original`. Layers with a sliding window and a rotary module of their own
    (ModernBERT) keep their positions: no distance that they see is new to them.
    """
    if family.table is not None:
        with _rows(family.table, placing, original):
            yield
    elif family.rotary is not None:
        with _turned(family.rotary, placing):
            yield


@contextmanager
def _rows(table: Table, placing: Placing, original: int) -> Iterator[None]:
    if original > table.rows.num_embeddings - table.first:
        have = table.rows.num_embeddings - table.first
        msg = f"the model has {have} positions, not {original}; give a smaller original length"
        raise InvalidRequest(msg)
    last = table.first + original - 1

    def choose(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
        batch = now()
        rows = placing(batch).whole + table.first
        if table.first:
            rows = rows.where(batch.counted, rows.new_tensor(table.first - 1))
        return with_ids(module, args, kwargs, rows)

    def between(_: nn.Module, args: tuple[Tensor], __: object, output: Tensor) -> Tensor | None:
        part = placing(now()).part
        if part is None:
            return None
        above = table.rows.weight[(args[0] + 1).clamp(max=last)]
        return output.lerp(above, part[..., None].to(output.dtype))

    with before(table.owner, choose), after(table.rows, between):
        yield


@contextmanager
def _turned(rotary: Rotary, placing: Placing) -> Iterator[None]:
    def choose(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs | None:
        if unchanged(rotary, module, args, kwargs):
            return None
        places = placing(now())
        ids = places.whole if places.part is None else places.whole + places.part
        return with_ids(module, args, kwargs, ids)

    with before(rotary.module, choose):
        yield


def unchanged(
    rotary: Rotary, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether a call of a rotary module is for local layers with frequencies of their own."""
    return rotary.by_layer and _bound(module, args, kwargs).get("layer_type") == SLIDING


def with_ids(
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
