"""What contextual positions count: how far the gates of `minilm-cope` open, by kind of token.

    python training/rope/openness.py DATA

On windows of 256 tokens of held-out meetings, a line a layer: the mean over all heads and queries,
its standard deviation over keys, the mean of each kind of key, and after how many tokens to the
left the count is 63, the last position (the median over heads and queries that get there).
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import click
import torch
from texts import read_texts
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from indexing.models.files import encoder_weights
from indexing.nn.contextual_bert import register
from indexing.nn.cope import positions_around

_WINDOWS = 12
_KINDS = ("[CLS] [SEP]", ". ? !", ",", ":", "others")


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
def main(data: Path) -> None:
    """Print a table."""
    torch.set_num_threads(1)
    register()
    folder = encoder_weights("minilm-cope").folder
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    texts, source = read_texts(data, folder), random.Random(0)
    held = texts.held_meetings
    rows = torch.tensor([source.choice(held).window(256, source) for _ in range(_WINDOWS)])
    kinds = _kinds(rows, tokenizer)
    with torch.inference_mode():
        states = model(rows, output_hidden_states=True).hidden_states
        click.echo(f"| layer | mean | deviation | {' | '.join(_KINDS)} | tokens to the last |")
        click.echo("|---" * (len(_KINDS) + 4) + "|")
        for number, (layer, inputs) in enumerate(zip(model.layers, states, strict=False), 1):
            attention = layer.attention
            query, key = (
                each(inputs).unflatten(-1, (attention.heads, -1)).transpose(1, 2)
                for each in (attention.query, attention.gate_key)
            )
            gates = (query @ key.mT / math.sqrt(query.shape[-1])).sigmoid()
            means = [float(gates.mean(dim=(1, 2))[kinds == kind].mean()) for kind in range(5)]
            spread = float(gates.std(dim=-1).mean())
            shown = " | ".join(f"{mean:.2f}" for mean in means)
            reached = _reached(positions_around(gates, 0, 64))
            click.echo(f"| {number} | {gates.mean():.2f} | {spread:.2f} | {shown} | {reached} |")


def _kinds(rows: Tensor, tokenizer: object) -> Tensor:
    """Which of `_KINDS` each token is, of the shape of the rows."""
    names = [kind.split() for kind in _KINDS[:-1]]
    found = torch.full_like(rows, len(names))
    for number, some in enumerate(names):
        for name in some:
            found[rows == tokenizer.convert_tokens_to_ids(name)] = number  # type: ignore[attr-defined]
    return found


def _reached(positions: Tensor) -> str:
    """The median distance to the left at which the last position begins."""
    count = positions.shape[-1]
    left = (positions >= 63) & torch.ones(count, count, dtype=torch.bool).tril()
    nearest = torch.where(left, torch.arange(count), -1).amax(dim=-1)
    distance = (torch.arange(count) - nearest)[nearest >= 0]
    return str(int(distance.median())) if len(distance) else "never"


if __name__ == "__main__":
    main()
