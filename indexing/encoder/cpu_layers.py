"""The quickest way in which this CPU computes the layers of a model, exact to rounding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.encoder.packed import packed

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, slots=True)
class CpuLayers:
    """What was changed in a model.

    Attributes:
        compiled: How many layers of a transformer run in compiled code.
        packed: How many linear layers have packed weights.
    """

    compiled: int
    packed: int


@contextmanager
def cpu_layers(model: nn.Module, *, rows: int, plain: bool = True) -> Iterator[CpuLayers]:
    """Lets the layers of a model run in compiled code, else with packed weights, inside the block.

    Args:
        model: Any; what neither is for stays as it is.
        rows: Tokens at once for which weights are packed.
        plain: Whether nothing else changes what its layers compute.
    """
    from indexing.encoder.compiled_bert import compiled_bert

    with ExitStack() as stack:
        compiled = stack.enter_context(compiled_bert(model)) if plain else 0
        yield CpuLayers(compiled, 0 if compiled else stack.enter_context(packed(model, rows=rows)))
