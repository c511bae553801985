"""Fits the probability that documents answer, on the folders of strangers to develop on.

    python training/reader/fit_abstention.py --corpora build/corpora

Its questions, those of them that nothing answers, and of each folder some questions of the others:
written by people who had other documents before them. What the reader says is fitted; dates and
values that are missing keep their weights by hand. Printed are figures of weights that were fitted
on the other folders; what is written, `fitted.json`, is fitted on all.

    python training/reader/fit_abstention.py --corpora build/corpora --series build/series

fits the same where a larger reader has read again, on the sets of `series` in English; its bias is
such that of the answers of the folders, on which else nothing is fitted, 4.1 % are withheld.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from series import TOGETHER, asked_of_sets

from benchmarks.folders import request_of
from benchmarks.folders.questions import DEVELOPMENT, FOLDERS, FolderQuestion, folder_questions
from benchmarks.folders.steps import evidence_of
from generator.extractive.abstention import answer_features, relatedness
from generator.extractive.fitted import FITTED, FITTED_FILE
from indexing.text.language import language_of
from rag_app.corpus.corpus import Corpus
from rag_app.progress import track

READ = ("scores", "answerable")
BY_HAND = {"dates missing": -1.2, "value missing": -0.653}
FOREIGN, FOREIGN_WEIGHT = 15, 0.3  # questions of other folders, asked of each; of the weight of one
WITHHELD = (0.04, 0.05, 0.06)  # of the answerable questions
_WRONGLY = 0.041  # of the answerable questions, as without a larger reader
_RIDGE = 0.01


@dataclass(frozen=True, slots=True)
class Row:
    """A question asked of a folder.

    Attributes:
        folder: Which.
        kind: "answered", "near miss" or "foreign".
        values: The features of abstention, by name.
        related: Whether any sentence is about what is asked, 0 to 1.
    """

    folder: str
    kind: str
    values: dict[str, float]
    related: float


@click.command()
@click.option("--corpora", type=click.Path(path_type=Path), required=True)
@click.option("--folder", "folders", multiple=True, default=DEVELOPMENT, help="Only these.")
@click.option("--series", type=click.Path(path_type=Path), help="Where corpora of the sets go.")
@click.option("--sets", type=click.IntRange(min=TOGETHER), help="Only so many of these.")
@click.option("--write", is_flag=True, help="Into fitted.json.")
def main(
    corpora: Path, folders: tuple[str, ...], series: Path | None, sets: int | None, write: bool
) -> None:
    """Ask all questions, fit, print and write."""
    again = series is not None
    rows = [row for name in folders for row in _rows(name, folders, corpora, again=again)]
    fitted_on = rows if series is None else list(_rows_of_sets(series, sets))
    authors = {one.folder for one in fitted_on}
    others = {name: [one for one in fitted_on if one.folder != name] for name in authors}
    fitted = {name: fit(some or fitted_on) for name, some in others.items()}
    _print(fitted_on, [probability(one, fitted[one.folder]) for one in fitted_on])
    weights = fit(fitted_on)
    if again:
        weights["bias"] = _bias(rows, weights)
        _print(rows, [probability(one, weights) for one in rows])
    click.echo(json.dumps(weights, indent=2))
    if write:
        name = "answerable_again" if again else "answerable"
        every = json.loads(FITTED_FILE.read_text(encoding="utf-8")) | {name: weights}
        FITTED_FILE.write_text(json.dumps(every, indent=2) + "\n", encoding="utf-8")


def _bias(rows: list[Row], weights: dict[str, float]) -> float:
    """With which so many answers of some questions are withheld, at the threshold that ships."""
    good = [probability(one, weights) for one in rows if one.kind == "answered"]
    least = min(max(float(np.quantile(good, _WRONGLY)), 1e-6), 1 - 1e-6)
    return round(weights["bias"] + _logit(FITTED.abstain_below) - _logit(least), 3)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _rows_of_sets(series: Path, most: int | None) -> Iterator[Row]:
    """The questions of the sets that a larger reader read again; each author is a folder."""
    for one in asked_of_sets(series, most):
        if not one.is_read_once:
            kind = "answered" if one.answers else "near miss"
            yield Row(one.author, kind, answer_features(one.features), relatedness(one.features))


def _rows(name: str, folders: tuple[str, ...], corpora: Path, *, again: bool) -> Iterator[Row]:
    """The questions of a folder, and some of the others in its language.

    With `again` only those that a larger reader read again, else all without it.
    """
    own = list(folder_questions(name))
    others = [
        one
        for other in folders
        if other != name
        for one in folder_questions(other)
        if not one.history and language_of(one.text) == language_of(own[0].text)
    ]
    foreign = random.Random(f"{name} 4").sample(others, min(FOREIGN, len(others)))
    with Corpus(corpora / name) as corpus:
        corpus.add([FOLDERS / name / "files"])
        with track([*own, *foreign], doing=name) as questions:
            for one in questions:
                features = evidence_of(corpus, request_of(one))
                if features is None or features.reading is None or not features.sentences:
                    continue
                if not again or features.usual is not features:
                    features = features if again else features.usual
                    values = answer_features(features)
                    yield Row(name, _kind(one, name), values, relatedness(features))


def _kind(one: FolderQuestion, folder: str) -> str:
    if one.folder != folder:
        return "foreign"
    return "answered" if one.answerable else "near miss"


def fit(rows: list[Row]) -> dict[str, float]:
    """Weights of a logistic function; answered questions and near misses count alike in all."""
    read = np.array([[one.values[name] for name in READ] for one in rows])
    by_hand = np.array([sum(w * one.values[name] for name, w in BY_HAND.items()) for one in rows])
    signs = np.array([1.0 if one.kind == "answered" else -1.0 for one in rows])
    counts = {kind: sum(one.kind == kind for one in rows) for kind in ("answered", "near miss")}
    own = sum(counts.values()) / 2
    weight = np.array(
        [FOREIGN_WEIGHT if one.kind == "foreign" else own / counts[one.kind] for one in rows]
    )
    mean, deviation = read.mean(axis=0), read.std(axis=0)
    scaled = (read - mean) / deviation

    def loss(values: NDArray[np.float64]) -> float:
        logits = scaled @ values[1:] + values[0] + by_hand
        each = weight * np.logaddexp(0, -signs * logits)
        return float(each.sum() / weight.sum() + _RIDGE * (values[1:] ** 2).sum())

    bias, *slopes = minimize(loss, np.zeros(1 + len(READ))).x
    slopes = np.array(slopes) / deviation
    named = {name: round(float(each), 3) for name, each in zip(READ, slopes, strict=True)}
    return {"bias": round(float(bias - slopes @ mean), 3)} | named | BY_HAND


def probability(one: Row, weights: dict[str, float]) -> float:
    """As `abstention.answer_probability`."""
    total = weights["bias"] + sum(weights[name] * value for name, value in one.values.items())
    return one.related / (1 + math.exp(-total))


def _print(rows: list[Row], likely: list[float]) -> None:
    by_kind = {
        kind: np.array([p for one, p in zip(rows, likely, strict=True) if one.kind == kind])
        for kind in ("answered", "near miss", "foreign")
    }
    good, near = by_kind["answered"], by_kind["near miss"]
    above = np.mean(good[:, None] > near) + np.mean(good[:, None] == near) / 2
    click.echo(f"{len(good)} answered, {len(near)} near misses: ROC AUC {above:.3f}")
    for share in WITHHELD:
        least = float(np.quantile(good, share))
        kinds = {
            kind: round(100 * float(np.mean(each < least)), 1)
            for kind, each in by_kind.items()
            if len(each)
        }
        click.echo(f"below {least:.3f}, in %: {kinds}")


if __name__ == "__main__":
    main()
