"""Beyond the window: which of long stretches of meetings does an excerpt come from?

    python training/rope/beyond.py DATA --encoder minilm-cope --extension none --length 1024

Stretches of held-out meetings, of so many tokens, are encoded whole (accuracy at 1 and nDCG@10 of
excerpts of 48 tokens, in hundredths), and compared with what the packaged encoder makes of them in
windows of 256 (cosine of the vectors).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from texts import Texts, read_texts
from transformers import AutoTokenizer

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.models.files import encoder_weights

_EXCERPT, _EACH = 48, 4


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--encoder", required=True)
@click.option("--extension", default="none", show_default=True)
@click.option("--length", "lengths", type=int, multiple=True, required=True)
@click.option("--max-length", type=int, help="Of the method.  [default: the length]")
@click.option("--count", default=30, show_default=True, help="Stretches.")
def main(
    data: Path,
    encoder: str,
    extension: str,
    lengths: tuple[int, ...],
    max_length: int | None,
    count: int,
) -> None:
    """Print a line for each length."""
    torch.set_num_threads(1)
    folder = encoder_weights().folder
    texts = read_texts(data, folder)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    teacher = Encoder(EncoderSettings(extension="pcw", max_length=256))
    for length in lengths:
        most = 256 if extension == "pcw" else max_length or length
        student = Encoder(EncoderSettings(model=encoder, extension=extension, max_length=most))
        documents, excerpts, gold = _task(texts, tokenizer, length, count)
        own, wanted = (_vectors(each, documents) for each in (student, teacher))
        scores = student.encode_queries(excerpts) @ own.T
        ranks = 1 + (scores > scores[np.arange(len(gold)), gold][:, None]).sum(axis=1)
        gains = np.where(ranks <= 10, 1 / np.log2(1 + ranks), 0)
        found = {
            "accuracy": round(100 * float((ranks == 1).mean()), 1),
            "ndcg": round(100 * float(gains.mean()), 1),
            "cosine": round(float((own * wanted).sum(axis=1).mean()), 4),
        }
        named = {"encoder": Path(encoder).name, "extension": extension, "length": length}
        click.echo(json.dumps({**named, "max_length": student.max_length, **found}))


def _vectors(encoder: Encoder, documents: list[Document]) -> Any:  # noqa: ANN401
    return np.stack([one.vector for one in encoder.encode([(each, []) for each in documents])])


def _task(
    texts: Texts,
    tokenizer: Any,  # noqa: ANN401
    length: int,
    count: int,
) -> tuple[list[Document], list[str], list[int]]:
    """Stretches, excerpts of them, and which stretch each is of."""
    source = random.Random(length)
    documents, excerpts, gold = [], [], []
    for number in range(count):
        window = source.choice(texts.held_meetings).window(length - 8, source)[1:-1]
        documents.append(Document(str(number), "", "", "", "txt", "", tokenizer.decode(window)))
        for _ in range(_EACH):
            at = source.randint(0, len(window) - _EXCERPT)
            excerpts.append(tokenizer.decode(window[at : at + _EXCERPT]))
            gold.append(number)
    return documents, excerpts, gold


if __name__ == "__main__":
    main()
