"""Fits how late a sentence is said beside its score, on folders of documents whose facts change.

    python training/reader/fit_latest.py --corpora build/series

The sets are those of `series`. The weights are those of a softmax over a question's sentences, of
which those answer that have the words of an answer.
Each question counts twice: as all readers read it, and without the larger one. Printed is how many
answers lead with weights that were fitted on the sets of the other sessions; what is written,
`ranking` of `fitted.json`, is fitted on all. It takes an hour and a half on one core.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp
from series import TOGETHER, Asked, asked_of_sets

from generator.extractive.features import SentenceFeatures
from generator.extractive.fitted import FITTED, FITTED_FILE
from generator.extractive.latest import document_days
from generator.extractive.ranking import ranking_features, sentence_scores

BY_HAND = ("after",)  # no question of the sets tells
NAMES = [name for name in FITTED.ranking if name not in BY_HAND]
_RIDGE, _SCORE = 0.002, 0.7  # towards the score alone


@dataclass(frozen=True, slots=True)
class Row:
    """A question of a set, as some readers read it.

    Attributes:
        author: Of the set.
        kind: As of `Asked`; no near miss.
        values: (n, m) of each sentence, by `NAMES`.
        answers: (n,) whether it has the words of an answer.
    """

    author: str
    kind: str
    values: NDArray[np.float64]
    answers: NDArray[np.bool_]

    def leads(self, weights: NDArray[np.float64]) -> bool:
        """Whether a sentence that answers comes first."""
        return bool(self.answers[int(np.argmax(self.values @ weights))])


@click.command()
@click.option("--corpora", type=click.Path(path_type=Path), required=True)
@click.option("--sets", "most", type=click.IntRange(min=TOGETHER), help="Only so many.")
@click.option("--write", is_flag=True, help="Into fitted.json.")
def main(corpora: Path, most: int | None, write: bool) -> None:
    """Ask all questions, fit, print and write."""
    rows = [
        _row(one, each)
        for one in asked_of_sets(corpora, most)
        if one.answers
        for each in ([one.features] if one.is_read_once else [one.features, one.features.usual])
    ]
    authors = sorted({one.author for one in rows})
    others = {name: [one for one in rows if one.author != name] for name in authors}
    fitted = {name: fit(some or rows) for name, some in others.items()}
    for kind in sorted({one.kind for one in rows}):
        led = [one.leads(fitted[one.author]) for one in rows if one.kind == kind]
        click.echo(f"{kind}: {sum(led)} of {len(led)} lead")
    weights = {name: round(float(x), 2) for name, x in zip(NAMES, fit(rows), strict=True)}
    click.echo(json.dumps(weights, indent=2))
    if write:
        every = json.loads(FITTED_FILE.read_text(encoding="utf-8"))
        every["ranking"] |= weights
        FITTED_FILE.write_text(json.dumps(every, indent=2) + "\n", encoding="utf-8")


def _row(asked: Asked, features: SentenceFeatures) -> Row:
    scores = sentence_scores(features)
    days = document_days({one.document.id: one.document for one in features.sentences})
    found = {"score": scores, **ranking_features(features, scores, days)}
    kept = np.isfinite(scores)
    answers = [_has(asked.answers, one.text) for one in features.sentences]
    values = np.stack([found[name][kept] for name in NAMES], axis=1).astype(np.float64)
    return Row(asked.author, asked.kind, values, np.array(answers, bool)[kept])


def _has(answers: Sequence[str], text: str) -> bool:
    """Whether a text has the words of an answer, as words."""
    flat = " ".join(text.split()).lower()
    return any(re.search(rf"(?<!\w){re.escape(one.lower())}(?!\w)", flat) for one in answers)


def fit(rows: Sequence[Row]) -> NDArray[np.float64]:
    """(m,) weights by `NAMES`, of the questions that some sentence answers."""
    some = [one for one in rows if one.answers.any()]
    near = np.array([_SCORE if name == "score" else 0.0 for name in NAMES])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.0, np.zeros(len(NAMES))
        for one in some:
            scores = one.values @ weights
            every, good = logsumexp(scores), logsumexp(scores[one.answers])
            total += every - good
            slope += np.exp(scores - every) @ one.values
            slope -= np.exp(scores[one.answers] - good) @ one.values[one.answers]
        away = weights - near
        count = max(1, len(some))
        return total / count + _RIDGE * float(away @ away), slope / count + 2 * _RIDGE * away

    found: NDArray[np.float64] = minimize(loss, near, jac=True, method="L-BFGS-B").x
    return found


if __name__ == "__main__":
    main()
