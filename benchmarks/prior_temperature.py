"""The temperature of the retrieval prior: the softmax of scores / temperature is p(z|x).

p(z|x) weighs the passages z in RAG decoding (Lewis et al., arXiv 2005.11401, 2.1). Fitted by log
likelihood, a proper scoring rule: of questions with gold evidence among their best passages, the
mean log of the gold passages' probability. Passages come from all documents, and, where every
question is about one document, from that alone as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import click

from generator.decoding.base import MarginalSettings
from generator.decoding.rag import log_prior
from generator.evidence import Span, gather_evidence
from generator.request import EVIDENCE_DOCUMENTS
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.search import EVIDENCE_PASSAGES
from rag_app.laboratory.commands.answers import with_questions
from rag_app.laboratory.datasets.labelled_questions import LabelledQuestion, in_gold, load_questions
from rag_app.laboratory.evaluation.answers import corpus_folder
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

TEMPERATURES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)

Ranked = list[tuple[list[Span | None], list[bool]]]
"""For each question its passages, and which of them are gold."""


@dataclass(frozen=True, slots=True)
class TemperatureReport:
    """How well each temperature fits.

    Attributes:
        questions: How many were asked.
        passages: Over how many passages p(z|x) is distributed.
        with_gold: By scope of the search, how many questions have gold among these.
        log_share: By scope and temperature, the mean of log p(gold).
        pooled: By temperature, the mean over the questions of all scopes.
        best: The temperature of the highest pooled mean.
    """

    questions: int
    passages: int
    with_gold: dict[str, int]
    log_share: dict[str, dict[float, float]]
    pooled: dict[float, float]
    best: float

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return asdict(self)


def evaluate(
    data: Path,
    *,
    folder: Path | None = None,
    questions: int | None = None,
    notify: Callable[[str], None] | None = None,
) -> TemperatureReport:
    """Fit the temperature.

    Args:
        data: QMSum's .json or .jsonl, or a person's own questions, as for `answers`.
        folder: Where the corpus is kept, and taken from; None for a temporary one.
        questions: At most so many, None for all.
        notify: Told about anything that takes long.

    Raises:
        InvalidRequest: No question has gold among its best passages.
        UnreadableFile: The data cannot be read.
    """
    with corpus_folder(folder) as place, Corpus(place, notify=notify) as corpus:
        sample = [one for one in load_questions(data, corpus) if one.gold][:questions]
        scopes = {"all documents": _rank(corpus, sample, own=False)}
        if all(one.document for one in sample):
            scopes["its own document"] = _rank(corpus, sample, own=True)
    fits = {
        name: {t: _log_shares(ranked, t) for t in TEMPERATURES} for name, ranked in scopes.items()
    }
    if not any(fit[TEMPERATURES[0]] for fit in fits.values()):
        raise InvalidRequest(f"{data}: no question has gold evidence among its best passages")
    pooled = {t: fmean(x for fit in fits.values() for x in fit[t]) for t in TEMPERATURES}
    return TemperatureReport(
        len(sample),
        MarginalSettings().passages,
        {name: len(fit[TEMPERATURES[0]]) for name, fit in fits.items()},
        {name: {t: round(fmean(v), 4) for t, v in fit.items() if v} for name, fit in fits.items()},
        {t: round(value, 4) for t, value in pooled.items()},
        max(pooled, key=pooled.__getitem__),
    )


def _rank(corpus: Corpus, sample: Sequence[LabelledQuestion], *, own: bool) -> Ranked:
    ranked: Ranked = []
    limit = MarginalSettings().passages
    with track(sample, doing="Searching") as steps:
        for one in steps:
            where = Filter(documents=(one.document,)) if own and one.document else None
            hits = corpus.search(
                one.question, k=EVIDENCE_DOCUMENTS, passages=EVIDENCE_PASSAGES, where=where
            )
            best = gather_evidence(hits, corpus.document).passages[:limit]
            gold = [in_gold(one.gold, each.document.id, each.start, each.end) for each in best]
            ranked.append(([*best], gold))
    return ranked


def _log_shares(ranked: Ranked, temperature: float) -> list[float]:
    """Log p(gold) for each question with gold among its passages."""
    how = MarginalSettings(temperature=temperature)
    return [
        math.log(
            sum(math.exp(x) for x, is_gold in zip(log_prior(s, how), g, strict=True) if is_gold)
        )
        for s, g in ranked
        if any(g)
    ]


@click.command
@with_questions
@with_json
def command(data: Path, questions: int | None, folder: Path | None, as_json: bool) -> None:
    """The temperature that turns retrieval scores into p(z|x), fitted by log likelihood."""
    notify = partial(click.echo, err=True)
    report = evaluate(data, folder=folder, questions=questions, notify=notify)
    print_result(as_json, report.as_dict(), lambda: click.echo(text(report)))


def text(report: TemperatureReport) -> str:
    """A Markdown table."""
    rows = [
        [
            f"{value:g}{' (best)' if value == report.best else ''}",
            *(f"{shares[value]:.3f}" for shares in report.log_share.values()),
            f"{pooled:.3f}",
        ]
        for value, pooled in report.pooled.items()
    ]
    heads = [f"{scope} ({report.with_gold[scope]})" for scope in report.log_share]
    return f"Mean log p(gold) among {report.passages} passages; questions with gold in ()\n" + grid(
        ["temperature", *heads, "pooled"], rows
    )
