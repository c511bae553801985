"""What the reader takes for the answer in each passage, near misses included.

    python training/verifier/read_answers.py DATA/reading/train.jsonl.gz --out read.jsonl

For the verifier, from passages that it is trained on: Read + Verify (Hu et al. 2019, arXiv
1808.05759).
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import torch
from verifier_data import ReadAnswer, held_titles, passage_group

from generator.evidence import Span, evidence_sentences
from generator.reader.reading import Reader
from indexing.documents import Document
from rag_app.laboratory.evaluation.short_answers import word_f1
from rag_app.progress import track

_SHARE = {"squad2-half": 1.0, "nq-open": 0.7}  # of the questions that are read
_OTHER = 0.08
_RIGHT = 0.5  # word F1 from which words answer


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(data: Path, out: Path) -> None:
    """Write a line for each question."""
    torch.set_num_threads(1)
    rng = random.Random(0)
    reader = Reader()
    with gzip.open(data, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    kept = held_titles(records)
    with out.open("w", encoding="utf-8") as file, track(records, doing="Reading") as steps:
        for record in steps:
            if passage_group(record) in kept:
                continue
            share = _SHARE.get(record["source"], _OTHER)
            drawn = [one for one in record["questions"] if rng.random() < share]
            for found in _answers(reader, record["text"], drawn):
                file.write(json.dumps(asdict(found)) + "\n")


def _answers(
    reader: Reader, text: str, questions: Sequence[Mapping[str, Any]]
) -> Iterator[ReadAnswer]:
    """Those that are clearly right or clearly wrong."""
    document = Document("0", "passage.txt", "", "", "text", "", text)
    sentences = evidence_sentences([Span(document, 0, len(text), 1.0)])
    for one in questions:
        words = [each for each in reader.read(one["question"], sentences).words if each]
        if not words:
            continue
        best = max(words, key=lambda each: each.score)
        golds = [text[a:b] for a, b in one["answers"]]
        right = word_f1(text[best.start : best.end], golds)
        if not golds or right == 0 or right >= _RIGHT:
            yield ReadAnswer(one["question"], text, best.start, best.end, right > 0)


if __name__ == "__main__":
    main()
