"""Another reconstruction of a checkpoint's output layers: see `reconstruction.py`."""

from __future__ import annotations

from pathlib import Path

import changes
import click
import contextual
import reconstruction
import rotary
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from texts import read_texts

from indexing.models.files import encoder_weights


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--batches", default=24, show_default=True)
@click.option("--ridge", default=reconstruction.RIDGE, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(data: Path, checkpoint: Path, out: Path, batches: int, ridge: float, seed: int) -> None:
    """Write a checkpoint with reconstructed output layers."""
    torch.set_num_threads(1)
    reconstruction.RIDGE = ridge
    folder = encoder_weights().folder
    texts = read_texts(data, folder)
    weights, run = changes.of_checkpoint(checkpoint)
    kind = contextual if changes.positions_of(run) == "contextual" else rotary
    student = kind.student(weights)
    teacher = rotary.teacher(folder)
    rows = [texts.batch(seed, number, 1024) for number in range(batches)]
    reconstruction.reconstruct(student.requires_grad_(requires_grad=False), teacher, rows)
    tensors = load_file(checkpoint)
    for name, each in student.named_parameters():
        if f"weights.{name}" in tensors:
            tensors[f"weights.{name}"] = each.detach().contiguous()
    with safe_open(checkpoint, framework="pt") as file:
        save_file(tensors, out, file.metadata())


if __name__ == "__main__":
    main()
