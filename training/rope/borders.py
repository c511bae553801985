"""Why accuracies of passkeys in windows (`pcw`) jump from length to length: where the borders fall.

    python training/rope/borders.py --encoder minilm-rope --length 1024 --length 2048

A passkey that lies across the border of two windows, or where the last one overlaps the one before,
is in two of the vectors that are averaged; one inside a window, in one. For each length, by this:
how many documents there are, how many of the questions after them are answered, and how often they
come first where they are wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click
import numpy as np
import torch

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.extension.pcw import special_tokens, windows
from rag_app.laboratory.datasets.synthetic import passkey
from rag_app.laboratory.datasets.task import Task


@click.command()
@click.option("--encoder", required=True)
@click.option("--length", "lengths", type=int, multiple=True, required=True)
@click.option("--documents", default=50, show_default=True)
@click.option("--seed", "seeds", type=int, multiple=True, default=[0], show_default=True)
def main(encoder: str, lengths: Sequence[int], documents: int, seeds: Sequence[int]) -> None:
    """Print a line for each length and seed."""
    torch.set_num_threads(1)
    reader = Encoder(EncoderSettings(model=encoder, extension="pcw"))
    for length in lengths:
        for seed in seeds:
            task = passkey(length, documents=documents, seed=seed)
            found = _split(reader, task)
            click.echo(json.dumps({"encoder": encoder, "length": length, "seed": seed, **found}))


def _split(reader: Encoder, task: Task) -> dict[str, object]:
    touched = [_touched(reader, one.text) for one in task.documents]
    vectors = np.stack([one.vector for one in reader.encode([(x, []) for x in task.documents])])
    scores = reader.encode_queries([query.text for query in task.queries]) @ vectors.T
    first, gold = scores.argmax(axis=1), [query.gold for query in task.queries]
    hits = [(touched[g], int(f) == g) for f, g in zip(first, gold, strict=True)]
    wrong = Counter(touched[f] for f, g in zip(first, gold, strict=True) if f != g)
    answered = {
        str(kind): f"{sum(hit for k, hit in hits if k == kind)}/{sum(k == kind for k, _ in hits)}"
        for kind in sorted({k for k, _ in hits})
    }
    return {
        "accuracy": round(float(np.mean([hit for _, hit in hits])), 4),
        "documents with it in so many windows": dict(sorted(Counter(touched).items())),
        "answered": answered,
        "first where wrong": dict(sorted(wrong.items())),
    }


def _touched(reader: Encoder, text: str) -> int:
    """How many windows hold a part of the passkey's line."""
    tokenizer = reader.model.tokenizer
    line = next(each for each in text.split("\n") if "pass key" in each)
    start = text.index(line)
    encoded = tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
    )["offset_mapping"]
    at = [n for n, (a, b) in enumerate(encoded) if a >= start and b <= start + len(line)]
    frame = special_tokens(tokenizer)
    size = reader.max_length - frame.head - frame.tail
    return sum(begin <= at[-1] and end > at[0] for begin, end in windows(len(encoded), size))


if __name__ == "__main__":
    main()
