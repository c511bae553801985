"""The reader's file: what is added to the packaged encoder, in eight bits, and the heads.

A row of a matrix is kept as whole numbers from -127 to 127 and a scale (as in LLM.int8: Dettmers
et al. 2022, arXiv 2208.07339, here for the difference from the packaged weights, which is small,
so that the rounding is smaller still). Everything else is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from reader_model import Reader
from safetensors.torch import load_file, save_file
from torch import Tensor

_ENCODER = "encoder."


def export(tuned: Mapping[str, Tensor], path: Path) -> None:
    """Write the file: `NAME.rows` (out, in) int8 with `NAME.scale` (out,), else `NAME`."""
    base = Reader().tuned()
    tensors: dict[str, Tensor] = {}
    for name, each in tuned.items():
        if not name.startswith(_ENCODER):
            tensors[name] = each.detach().float().contiguous()
            continue
        added = each.detach().float() - base[name].detach()
        if added.ndim == 2:
            scale = added.abs().amax(1).clamp(min=1e-12) / 127
            tensors[f"{name}.rows"] = (added / scale[:, None]).round().to(torch.int8)
            tensors[f"{name}.scale"] = scale
        else:
            tensors[name] = added.contiguous()
    save_file(tensors, path)


def load(path: Path) -> Reader:
    """A reader with what the file adds."""
    reader = Reader(dropout=0.0)
    tensors = load_file(path)
    for name, each in reader.tuned().items():
        if not name.startswith(_ENCODER):
            each.data.copy_(tensors[name])
        elif name in tensors:
            each.data += tensors[name]
        else:
            each.data += tensors[f"{name}.rows"].float() * tensors[f"{name}.scale"][:, None]
    return reader.eval()
