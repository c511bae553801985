"""Judges a checkpoint, or changes, of a trained encoder: see `agreement.py`."""

from __future__ import annotations

import json
from pathlib import Path

import changes
import click
import contextual
import rotary
import torch
from agreement import Judge
from safetensors import safe_open
from safetensors.torch import load_file
from texts import read_texts

from indexing.models.files import encoder_weights
from indexing.models.minilm.variant import changed


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.argument("model", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="metrics.jsonl")
@click.option("--note", default="", help="What to call it.")
def main(data: Path, model: Path, out: Path, note: str) -> None:
    """Add a line of figures to a file."""
    torch.set_num_threads(1)
    with safe_open(model, framework="pt") as file:
        said = file.metadata()
    if said.get("format") == changes.FORMAT:
        weights = changed(load_file(model), changes.packaged(changes.positions_of(said["run"])))
    else:
        weights, _ = changes.of_checkpoint(model)
    progress = json.loads(said["run"])["progress"]
    judge = Judge(read_texts(data, encoder_weights().folder), encoder_weights().folder, out)
    kind = contextual if changes.positions_of(said["run"]) == "contextual" else rotary
    found = judge.judged(kind.student(weights), {"note": note, "file": model.name, **progress})
    click.echo(json.dumps(found))


if __name__ == "__main__":
    main()
