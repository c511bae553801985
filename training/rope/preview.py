"""A preview beyond the window: which of long stretches of meetings does an excerpt come from?

    python preview.py DATA FOLDER --length 1024

Stretches of held-out meetings, of so many tokens, are encoded whole, each method in turn; excerpts
of 64 tokens are to find the stretch they were cut from (accuracy at 1 and nDCG@10, in hundredths).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click
import torch
from sentence_transformers import SentenceTransformer
from texts import Texts, read_texts
from torch import Tensor

from indexing.extension import EntropyScaling, build_method
from indexing.extension.pcw import windows
from indexing.models.files import encoder_weights

_EXCERPT, _EACH = 64, 3


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--length", default=1024, show_default=True)
@click.option("--count", default=40, show_default=True)
def main(data: Path, folder: Path, length: int, count: int) -> None:
    """Print a line for each method."""
    torch.set_num_threads(1)
    texts = read_texts(data, encoder_weights().folder)
    documents, excerpts, gold = _task(texts, length, count)
    teacher = SentenceTransformer(str(encoder_weights().folder), device="cpu")
    student = SentenceTransformer(str(folder), device="cpu")
    for model in (teacher, student):
        for parameter in model.parameters():  # not the buffers: rotary frequencies need float32
            parameter.data = parameter.data.bfloat16()
    for name, model, method in (
        ("teacher", teacher, "pcw"),
        ("student", student, "self-extend"),
        ("student", student, "ntk"),
        ("student", student, "pcw"),
        ("student", student, "as it is"),
    ):
        ranks = _ranks(model, method, documents, excerpts, gold)
        gains = (1 / (1 + ranks).log2()).where(ranks <= 10, 0)
        found = {
            "acc": 100 * float((ranks == 1).double().mean()),
            "ndcg": 100 * float(gains.mean()),
        }
        shown = {key: round(value, 1) for key, value in found.items()}
        click.echo(json.dumps({"model": name, "method": method, "length": length, **shown}))


def _task(texts: Texts, length: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    source = random.Random(length)
    documents, excerpts, gold = [], [], []
    for number in range(count):
        window = source.choice(texts.held_meetings).window(length, source)
        documents.append(window)
        for _ in range(_EACH):
            at = source.randint(1, length - _EXCERPT)
            excerpts.append([window[0], *window[at : at + _EXCERPT - 2], window[-1]])
            gold.append(number)
    return torch.tensor(documents), torch.tensor(excerpts), torch.tensor(gold)


def _ranks(
    model: Any,  # noqa: ANN401
    method: str,
    documents: Tensor,
    excerpts: Tensor,
    gold: Tensor,
) -> Tensor:
    asked = _vectors(model, excerpts)
    length = documents.shape[1]
    if method == "pcw":
        spans = windows(length - 2, 254)
        parts = [
            torch.cat(
                (documents[:, :1], documents[:, 1 + start : 1 + end], documents[:, -1:]), dim=1
            )
            for start, end in spans
        ]
        found = torch.stack([_vectors(model, part) for part in parts]).mean(dim=0)
    elif method == "as it is":
        found = _vectors(model, documents)
    else:
        name, _, entropy = method.partition(" + ")
        with build_method(name, max_length=length)(model):
            if entropy:
                with EntropyScaling()(model):
                    found = _vectors(model, documents)
            else:
                found = _vectors(model, documents)
    scores = (
        torch.nn.functional.normalize(asked, dim=-1)
        @ torch.nn.functional.normalize(found, dim=-1).T
    )
    return 1 + (scores > scores.gather(1, gold[:, None])).sum(dim=1).double()


@torch.inference_mode()
def _vectors(model: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
    found = []
    for some in rows.split(max(1, 4096 // rows.shape[1])):
        features = {"input_ids": some, "attention_mask": torch.ones_like(some)}
        found.append(model[0](features)["token_embeddings"].float().mean(dim=1))
    return torch.cat(found)


if __name__ == "__main__":
    main()
