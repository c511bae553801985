"""How good a reader is on articles and meetings that it was not trained on.

    python training/reader/reader_judge.py DATA/reading/train.jsonl.gz \
        --meetings DATA/qmsum/train.jsonl --folder build/reader [READER.safetensors ...]

The folder is where vectors are kept.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch
from everyday import join
from natural import join_natural
from reader_data import Data, Example, Meetings, Query, load_meetings, load_passages
from reader_examples import Examples, Near, meeting_example, order_windows
from reader_vectors import vectors
from transformers import AutoTokenizer

from generator.reader.cross_encoder import Batch, CrossEncoder, Logits, load_cross_encoder
from generator.reader.inputs import READER_WEIGHTS
from indexing.models.files import DEFAULT_ENCODER, encoder_weights

_STRETCH = 250  # tokens
_ANSWER = 40  # tokens of an answer, at most
_SHORT = 6  # tokens of a sentence that is not counted in a meeting, or fewer
_BUDGET = 6_000  # tokens read at once


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader says of one example.

    Attributes:
        answer: The best words.
        span: Their logits together, less those of none.
        answerable: The logit of the head for that.
        relevant: Of each sentence.
    """

    answer: str
    span: float
    answerable: float
    relevant: list[float]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reader is judged on; always the same for the same data.

    Attributes:
        answered: Questions with an answer, by source.
        misses: Near misses by people, by source.
        others: Questions beside the nearest passages that lack the answer, by source.
        queries: Questions of meetings, each with its nearest windows.
    """

    answered: dict[str, list[Example]]
    misses: dict[str, list[Example]]
    others: dict[str, list[Example]]
    queries: list[list[Example]]


def judged(
    examples: Examples, near: Near, meetings: Meetings, each: int, queries: int, windows: int
) -> Judged:
    """A fixed choice from what was kept for judging."""
    data, rng = examples.data, random.Random(1)
    held = list(enumerate(data.held, len(data.train)))
    rng.shuffle(held)
    answered: dict[str, list[Example]] = defaultdict(list)
    others: dict[str, list[Example]] = defaultdict(list)
    misses: dict[str, list[Example]] = defaultdict(list)
    for number, question in held:
        source = data.passages[question.passage].source
        most = each if source != "squad2-half" else 3 * each
        if not question.answers:
            if len(misses[source]) < most:
                misses[source].append(examples.near_miss(question, rng, _STRETCH))
        elif len(answered[source]) < most:
            answered[source].append(examples.answered(question, rng, _STRETCH))
            if source == "nq-open":
                order = np.argsort(-(near.passages @ near.questions[number]))[:5]
                one = examples.beside(question, [int(i) for i in order], rng)
                others[source] += [one] if one else []
    asked = rng.sample(meetings.held, min(queries, len(meetings.held)))
    shown = [_shown(query, meetings, data, windows) for query in asked]
    return Judged(dict(answered), dict(misses), dict(others), [one for one in shown if one])


def _shown(query: Query, meetings: Meetings, data: Data, windows: int) -> list[Example]:
    """The nearest windows, or nothing where none of them has a marked turn."""
    found = [meeting_example(query, meetings, i, data) for i in query.windows[:windows]]
    return found if any(any(one.relevant or []) for one in found) else []


def judge(reader: CrossEncoder, what: Judged, data: Data) -> dict[str, Any]:
    """Figures by source."""
    reader.eval()
    figures: dict[str, Any] = {}
    read_of: dict[str, list[Read]] = {}
    for source, examples in sorted(what.answered.items()):
        read_of[source] = read(reader, examples, data)
        figures[source] = _spans(examples, read_of[source], data)
    figures["f1"] = round(fmean(figures[source]["f1"] for source in what.answered), 1)
    for source, examples in what.misses.items():
        figures[f"near_{source}"] = _withheld(read_of[source], read(reader, examples, data))
    for source, examples in what.others.items():
        figures[f"other_{source}"] = _withheld(read_of[source], read(reader, examples, data))
    figures["qmsum"] = _meetings(reader, what.queries, data)
    reader.train()
    return figures


def read(reader: CrossEncoder, examples: Sequence[Example], data: Data) -> list[Read]:
    """Of each example, in their order."""
    found: dict[int, Read] = {}
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    while order:
        count = max(1, min(len(order), _BUDGET // len(examples[order[-1]].ids)))
        taken, order = order[-count:], order[:-count]
        with torch.inference_mode():
            logits = reader(Batch.of([examples[i] for i in taken]))
        for row, i in enumerate(taken):
            found[i] = _read(examples[i], data, logits, row)
    return [found[i] for i in range(len(examples))]


def _read(example: Example, data: Data, logits: Logits, row: int) -> Read:
    """One row of the logits; the best words are at most forty tokens."""
    starts, ends = logits.starts[row], logits.ends[row]
    size = len(example.spans)
    begin, end = (each[example.first : example.first + size] for each in (starts, ends))
    both = begin[:, None] + end[None, :]
    allowed = torch.ones_like(both).triu().tril(_ANSWER - 1) > 0
    best, at = both.masked_fill(~allowed, -1e9).flatten().max(0)
    first, last = divmod(int(at), size)
    text = ""
    if not isinstance(example.question, Query):
        passage = data.passages[example.question.passage]
        text = passage.text[example.spans[first][0] : example.spans[last][1]]
    span = float(best - starts[0] - ends[0])
    relevant = logits.relevant[row, : len(example.places)].tolist()
    return Read(text, span, float(logits.answerable[row]), relevant)


def _spans(examples: Sequence[Example], found: Sequence[Read], data: Data) -> dict[str, Any]:
    exact, shared, first, rank = [], [], [], []
    for example, one in zip(examples, found, strict=True):
        golds = _golds(example, data)
        exact.append(float(any(_words(one.answer) == _words(gold) for gold in golds)))
        shared.append(max(word_f1(one.answer, gold) for gold in golds))
        if len(one.relevant) > 1:
            first_, rank_ = _ranked(one.relevant, example.relevant or [])
            first.append(first_)
            rank.append(rank_)
    return {
        "n": len(examples),
        "f1": round(100 * fmean(shared), 1),
        "em": round(100 * fmean(exact), 1),
        "sentence": round(100 * fmean(first), 1),
        "sentence_mrr": round(100 * fmean(rank), 1),
    }


def _golds(example: Example, data: Data) -> list[str]:
    passage = data.passages[example.question.passage]
    return [
        passage.text[passage.spans[i][a][0] : passage.spans[j][b][1]]
        for (i, a), (j, b) in example.question.answers
    ]


def _ranked(scores: Sequence[float], held: Sequence[bool]) -> tuple[float, float]:
    """Whether the best is right, and one over the rank of the best right one."""
    order = np.argsort(-np.array(scores), kind="stable")
    ranks = [rank for rank, i in enumerate(order, 1) if held[int(i)]]
    return (float(ranks[0] == 1), 1 / ranks[0]) if ranks else (0.0, 0.0)


def _withheld(right: Sequence[Read], wrong: Sequence[Read]) -> dict[str, Any]:
    """ROC AUC of both logits and of their sum, and what is withheld at 5 % wrongly withheld."""
    ways: dict[str, Callable[[Read], float]] = {
        "span": lambda one: one.span,
        "answerable": lambda one: one.answerable,
        "sum": lambda one: one.span / 4 + one.answerable,
    }
    figures: dict[str, Any] = {"n": [len(right), len(wrong)]}
    for name, way in ways.items():
        good, bad = (np.array([way(one) for one in each]) for each in (right, wrong))
        figures[name] = round(auc(good, bad), 3)
        figures[f"{name}_withheld"] = round(float((bad < np.quantile(good, 0.05)).mean()), 3)
    return figures


def auc(good: Any, bad: Any) -> float:  # noqa: ANN401
    """Share of pairs in which the good one is higher."""
    higher = (good[:, None] > bad[None, :]).mean() + 0.5 * (good[:, None] == bad[None, :]).mean()
    return float(higher)


def _meetings(
    reader: CrossEncoder, queries: Sequence[Sequence[Example]], data: Data
) -> dict[str, Any]:
    """Of all sentences of the windows: the best, the best five, and the first right one's rank."""
    first, five, rank, chance = [], [], [], []
    for shown in queries:
        scores: list[float] = []
        held: list[bool] = []
        for example, one in zip(shown, read(reader, shown, data), strict=True):
            rows = zip(one.relevant, example.relevant or [], example.places, strict=True)
            for score, right, (start, end) in rows:
                if end - start > _SHORT:
                    scores.append(score)
                    held.append(right)
        order = np.argsort(-np.array(scores), kind="stable")
        best, rank_ = _ranked(scores, held)
        first.append(best)
        rank.append(rank_)
        five.append(fmean(float(held[int(i)]) for i in order[:5]))
        chance.append(fmean(map(float, held)))
    names = ("first", "five", "mrr", "chance")
    means = [round(100 * fmean(each), 1) for each in (first, five, rank, chance)]
    return {"n": len(first), **dict(zip(names, means, strict=True))}


def word_f1(found: str, gold: str) -> float:
    """Harmonic mean of precision and recall of words (Rajpurkar et al. 2016)."""
    one, other = _words(found), _words(gold)
    shared = sum((Counter(one) & Counter(other)).values())
    if not one or not other:
        return float(one == other)
    return 2 * shared / (len(one) + len(other))


def _words(text: str) -> list[str]:
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.argument("readers", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--encoder", default=DEFAULT_ENCODER, show_default=True)
def main(data: Path, readers: tuple[Path, ...], meetings: Path, folder: Path, encoder: str) -> None:
    """Figures of readers, of the one that ships if none is named; a line of JSON for each."""
    model = encoder_weights(encoder).folder
    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    passages, queries = load_passages(data, tokenizer), load_meetings(meetings, tokenizer)
    for more in (join, join_natural):
        passages, queries = more(passages, queries, meetings, tokenizer)
    found = vectors(passages, queries, folder / "vectors", encoder)
    order_windows(queries, found["queries"], found["windows"])
    near = Near(found["questions"], found["passages"])
    examples = Examples(passages, lambda text: tokenizer(text)["input_ids"])
    chosen = judged(examples, near, queries, 60, 40, 10)
    for path in readers or (READER_WEIGHTS,):
        figures = judge(load_cross_encoder(path, encoder), chosen, passages)
        click.echo(json.dumps({"reader": path.name, **figures}))


if __name__ == "__main__":
    main()
