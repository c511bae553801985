"""What retrieval scores are to be divided by, so that their softmax is p(z|x) of a passage.

Of each question the best passages are those that a decoding over passages reads. Where gold is
among them, the gold passages' share should be large: the mean of its logarithm is what judges a
temperature (a proper score: none wins but the one that fits). Twice where questions are about one
document each: with passages of that document, and with passages of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from generator.decoding.base import Marginal
from generator.decoding.rag import log_prior
from generator.evidence import Span, gather_evidence
from generator.request import EVIDENCE_DOCUMENTS
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from rag_app.corpus.corpus import EVIDENCE_PASSAGES, Corpus
from rag_app.evaluation.answers import Asked, asked_of, holds, kept
from rag_app.progress import counted

TEMPERATURES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)

Found = list[tuple[list[Span | None], list[bool]]]
"""Of each question its passages, and which of them are gold."""


@dataclass(frozen=True, slots=True)
class TemperatureReport:
    """How well each temperature fits.

    Attributes:
        questions: How many were asked, each in every way.
        passages: How many passages share.
        with_gold: By the way of asking, how many questions have gold among these.
        log_share: By the way of asking and temperature, the mean of log p(gold).
        pooled: By temperature, the mean over all those questions.
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
    """Fit the temperature of retrieval scores.

    Args:
        data: QMSum's .json or .jsonl, or a person's own questions, as for `answers`.
        folder: Where the corpus is kept, and taken from; None for a temporary one.
        questions: At most so many, None for all.
        notify: Told about anything that takes long.

    Raises:
        InvalidRequest: No question has gold among its best passages.
        UnreadableFile: The data cannot be read.
    """
    with kept(folder) as place, Corpus(place, notify=notify) as corpus:
        asked = [one for one in asked_of(data, corpus) if one.gold][:questions]
        ways = {"all documents": _found(corpus, asked, own=False)}
        if all(one.document for one in asked):
            ways["its own document"] = _found(corpus, asked, own=True)
    fits = {name: {t: _log_shares(found, t) for t in TEMPERATURES} for name, found in ways.items()}
    if not any(fit[TEMPERATURES[0]] for fit in fits.values()):
        raise InvalidRequest(f"{data}: no question has gold evidence among its best passages")
    pooled = {t: fmean(x for fit in fits.values() for x in fit[t]) for t in TEMPERATURES}
    return TemperatureReport(
        len(asked),
        Marginal().passages,
        {name: len(fit[TEMPERATURES[0]]) for name, fit in fits.items()},
        {name: {t: round(fmean(v), 4) for t, v in fit.items() if v} for name, fit in fits.items()},
        {t: round(value, 4) for t, value in pooled.items()},
        max(pooled, key=pooled.__getitem__),
    )


def _found(corpus: Corpus, asked: Sequence[Asked], *, own: bool) -> Found:
    found: Found = []
    most = Marginal().passages
    with counted(asked, doing="Searching") as steps:
        for one in steps:
            where = Filter(documents=(one.document,)) if own and one.document else None
            hits = corpus.search(
                one.question, k=EVIDENCE_DOCUMENTS, passages=EVIDENCE_PASSAGES, where=where
            )
            best = gather_evidence(hits, corpus.document).passages[:most]
            gold = [holds(one.gold, each.document.id, each.start, each.end) for each in best]
            found.append(([*best], gold))
    return found


def _log_shares(found: Found, temperature: float) -> list[float]:
    """Log p(gold) of each question with gold among its passages."""
    how = Marginal(temperature=temperature)
    return [
        math.log(
            sum(math.exp(x) for x, is_gold in zip(log_prior(s, how), g, strict=True) if is_gold)
        )
        for s, g in found
        if any(g)
    ]
