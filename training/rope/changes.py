"""A trained encoder as changes to the packaged one (`indexing.models.minilm.variant`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from indexing.models.files import encoder_weights
from indexing.models.minilm.contextual_minilm import CONTEXTUAL
from indexing.models.minilm.rotary_minilm import ROTARY
from indexing.models.minilm.variant import Variant

FORMAT = "rag-app changes 1"
_WHOLE = ("q_proj.weight", "k_proj.weight")
_KEPT = ("embeddings.", "pooler.")


def packaged(positions: str = "rotary") -> dict[str, Tensor]:
    """The packaged encoder's weights under the names of a rotary or contextual one."""
    return variant(positions).renamed(load_file(encoder_weights().folder / "model.safetensors"))


def variant(positions: str) -> Variant:
    """The variant of the packaged encoder with these positions."""
    return CONTEXTUAL if positions == "contextual" else ROTARY


def positions_of(run: str) -> str:
    """Which positions a run's student has."""
    return str(json.loads(run)["settings"].get("positions", "rotary"))


def packed_changes(weights: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What turns the packaged weights into these, nearly."""
    found = {}
    for name, tensor in weights.items():
        if name.startswith(_KEPT):
            continue
        if tensor.ndim == 1:
            found[name] = tensor.float()
        elif name.endswith(_WHOLE) or name not in base:
            found[name] = tensor.half()
        else:
            change = tensor - base[name]
            scale = change.abs().amax(dim=1).clamp(min=1e-12) / 127
            found[f"{name}.steps"] = (change / scale[:, None]).round().to(torch.int8)
            found[f"{name}.scale"] = scale
    return {name: tensor.contiguous() for name, tensor in found.items()}


def of_checkpoint(path: Path) -> tuple[dict[str, Tensor], str]:
    """All weights of a checkpoint of `train_rope.py`, and what it says of its run."""
    with safe_open(path, framework="pt") as file:
        trained = {
            name.removeprefix("weights."): file.get_tensor(name)
            for name in file.keys()  # noqa: SIM118 - it is no mapping
            if name.startswith("weights.")
        }
        run = str(file.metadata()["run"])
    return packaged(positions_of(run)) | trained, run


@click.command()
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The changes.")
def main(checkpoint: Path, out: Path) -> None:
    """Write the changes that a checkpoint makes to the packaged encoder."""
    weights, run = of_checkpoint(checkpoint)
    base = packaged(positions_of(run))
    save_file(packed_changes(weights, base), out, {"format": FORMAT, "run": run})
    click.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
