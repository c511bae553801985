"""Fits what joins the reader with all else that is known of a sentence, and measures it.

    python training/reader/fit_ranking.py DATA --meetings train.jsonl --folder build/reader \
        --weights reader.safetensors

On questions of articles and meetings that the reader never saw, asked of whole collections of
long documents. Weights of a sentence's features: a softmax over a question's sentences (a
conditional logit: McFadden, 1974), every source with the same weight. Printed for each source are
the figures of weights that were fitted on all the other sources; what is written, `fitted.json`, is
fitted on all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch
from evidence import Asked, sources
from long_documents import build
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from sklearn.linear_model import LogisticRegression

from generator.evidence import Sentence
from generator.extractive import abstention, ranking, selector, short_answer
from generator.extractive.features import SentenceFeatures
from generator.extractive.fitted import FITTED, FITTED_FILE
from generator.extractive.ranking import Weights
from generator.reader.inputs import READER_WEIGHTS
from generator.reader.reading import Reader, Reading, Words
from rag_app.laboratory.evaluation.short_answers import word_f1
from rag_app.progress import track

WITHHELD = 0.05  # of the answerable questions, where near misses are counted
SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # probabilities that are enough
ENOUGH = 0.8
SHOWN = (0.25, 0.3, 0.4, 0.5)  # probabilities of words, from the least at which they stand out
NEAR_MISSES = {"squad2-half": 4}  # weight of a source, where it is not 1
OF_READER = ("relevance", "words")
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Read:
    """A question whose sentences were read.

    Attributes:
        asked: The question with its sentences' features, what the reader says among them.
        matrix: (n, f) the features by the names of `ranking.FEATURES`.
        content: (n,) whether a sentence has content.
    """

    asked: Asked
    matrix: NDArray[np.float32]
    content: NDArray[np.bool_]

    @classmethod
    def of(cls, asked: Asked) -> Read:
        """Compute its features."""
        columns = [feature(asked.features) for feature in ranking.FEATURES.values()]
        content = np.isfinite(ranking.sentence_scores(asked.features, ranking.WEIGHTS_UNREAD))
        return cls(asked, np.stack(columns, axis=1), content)

    @property
    def answerable(self) -> bool:
        """Whether something answers it."""
        return bool(self.asked.question.golds)

    def scores(self, weights: Weights) -> NDArray[np.float32]:
        """(n,) by weights, -inf for sentences without content."""
        vector = np.array([weights.get(name, 0.0) for name in ranking.FEATURES], np.float32)
        return np.where(self.content, self.matrix @ vector, -np.inf).astype(np.float32)


def read(
    questions: Mapping[str, Sequence[Asked]], weights: Path, folder: Path
) -> dict[str, list[Read]]:
    """What the reader says of every question's sentences; kept, by the digest of its weights."""
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
    found: dict[str, list[Read]] = {}
    for source, every in questions.items():
        cache = folder / f"{source}.{digest}.safetensors"
        if not cache.exists():
            _read(every, Reader(weights), cache)
        arrays = load_file(cache)
        found[source] = [
            Read.of(replace(one, features=replace(one.features, reading=_reading(arrays, number))))
            for number, one in enumerate(every)
        ]
    return found


def _read(every: Sequence[Asked], reader: Reader, cache: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    with track(every, doing=f"Reading ({cache.stem})") as steps:
        for number, one in enumerate(steps):
            said = reader.read(one.question.text, one.features.sentences)
            arrays[f"{number}.relevance"] = said.relevance
            arrays[f"{number}.answerable"] = said.answerable
            words = [(w.start, w.end) if w else (-1, -1) for w in said.words]
            arrays[f"{number}.words"] = np.array(words, np.int64).reshape(-1, 2)
            arrays[f"{number}.scores"] = said.spans
    save_file(arrays, cache)


def _reading(arrays: Mapping[str, NDArray[Any]], number: int) -> Reading:
    places, scores = arrays[f"{number}.words"], arrays[f"{number}.scores"]
    words = tuple(
        Words(int(start), int(end), float(score)) if start >= 0 else None
        for (start, end), score in zip(places, scores, strict=True)
    )
    return Reading(arrays[f"{number}.relevance"], words, arrays[f"{number}.answerable"])


# --- weights of a sentence's features ---


def fit_sentence(sets: Mapping[str, Sequence[Read]]) -> Weights:
    """Weights by which sentences that answer come first, every source with the same weight.

    Three numbers are fitted: the weight of the sum by hand (`ranking.WEIGHTS_UNREAD`), and those of
    what the reader says of a sentence and of the words in it.
    """
    rows = []
    for every in sets.values():
        usable = [one for one in every if (one.asked.gold & one.content).any()]
        for one in usable:
            matrix = torch.tensor(one.matrix[one.content] @ _directions())
            rows.append((matrix, torch.tensor(one.asked.gold[one.content]), 1 / len(usable)))
    weights = torch.zeros(1 + len(OF_READER), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=80, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = _RIDGE * (weights**2).sum()
        for matrix, gold, share in rows:
            scores = matrix @ weights
            loss = loss + share * (scores.logsumexp(0) - scores[gold].logsumexp(0))
        loss.backward()
        return loss

    optimizer.step(closure)
    found = _directions() @ weights.detach().numpy()
    named = zip(ranking.FEATURES, found.tolist(), strict=True)
    return {name: round(value, 3) for name, value in named if value}


def _directions() -> NDArray[np.float32]:
    """(f, 3) what is fitted, in terms of the features: the sum by hand, and the reader's two."""
    names = list(ranking.FEATURES)
    directions = np.zeros((len(names), 1 + len(OF_READER)), np.float32)
    directions[:, 0] = [ranking.WEIGHTS_UNREAD.get(name, 0.0) for name in names]
    for column, name in enumerate(OF_READER, start=1):
        directions[names.index(name), column] = 1
    return directions


def quoted(one: Read, weights: Weights, enough: float) -> list[int]:
    """Indexes of the sentences that an answer would quote."""
    scores = one.scores(weights)
    order = np.argsort(-scores, kind="stable")[: selector.QuoteLength().quotes]
    before = np.cumsum(ranking.probabilities(scores)[order]) < enough
    return [int(i) for i in order[: 1 + int(before.sum())]]


def figures(every: Sequence[Read], weights: Weights, enough: float) -> dict[str, float]:
    """In percent, over the answerable questions: the first sentence, any, all that are quoted."""
    answered = [one for one in every if one.answerable]
    chosen = [(one.asked.gold, quoted(one, weights, enough)) for one in answered]
    return {
        "first": 100 * fmean(bool(gold[taken[0]]) for gold, taken in chosen),
        "any": 100 * fmean(bool(gold[taken].any()) for gold, taken in chosen),
        "quotes": 100 * fmean(float(gold[taken].mean()) for gold, taken in chosen),
        "count": fmean(len(taken) for _, taken in chosen),
    }


# --- whether there is an answer ---


def without_answer(one: Read, reader_says: Reading) -> SentenceFeatures | None:
    """The same evidence without what stands around the answer; None where nothing is left."""
    features = one.asked.features
    kept = [i for i, each in enumerate(features.sentences) if not _around(each, one.asked)]
    if not kept:
        return None
    reading = Reading(
        reader_says.relevance[kept],
        tuple(reader_says.words[i] for i in kept),
        reader_says.answerable[kept],
    )
    assert features.contextual is not None
    return replace(
        features,
        sentences=[features.sentences[i] for i in kept],
        stems=[features.stems[i] for i in kept],
        similarity=features.similarity[kept],
        word_similarity=features.word_similarity[kept],
        contextual=features.contextual[kept] - features.contextual[kept].max(),
        reading=reading,
    )


_AROUND = 800  # characters before and after an answer that go with it


def _around(sentence: Sentence, asked: Asked) -> bool:
    if sentence.document.title != asked.question.document:
        return False
    return any(
        sentence.start < end + _AROUND and start - _AROUND < sentence.end
        for start, end in asked.question.golds
    )


def fit_answerable(
    good: Mapping[str, Sequence[SentenceFeatures]],
    bad: Mapping[str, Sequence[SentenceFeatures]],
    weights: Weights,
) -> dict[str, float]:
    """A logistic function of `abstention.answer_features`; near misses count most."""
    rows, labels, shares = [], [], []
    for source in good:
        for label, every in ((True, good[source]), (False, bad[source])):
            for one in every:
                rows.append(abstention.answer_features(one, weights))
                labels.append(label)
                shares.append(NEAR_MISSES.get(source, 1) / len(every))
    return _logistic(rows, labels, np.array(shares) * len(rows) / sum(shares))


def _logistic(
    rows: Sequence[Mapping[str, float]], labels: Sequence[bool], shares: NDArray[np.float64]
) -> dict[str, float]:
    """Weights of a logistic function by name, and its `bias`."""
    names = list(rows[0])
    matrix = np.array([[row[name] for name in names] for row in rows])
    spread = matrix.std(0) + 1e-6
    model = LogisticRegression(C=0.3).fit(matrix / spread, labels, sample_weight=shares)
    found = dict(zip(names, (model.coef_[0] / spread).tolist(), strict=True))
    rounded = {name: round(value, 4) for name, value in found.items()}
    return {"bias": round(float(model.intercept_[0]), 4), **rounded}


# --- the words that answer ---


def fit_short(sets: Mapping[str, Sequence[Read]], weights: Weights) -> dict[str, float]:
    """A logistic function of the best words' scores: whether they share half of a right answer."""
    rows, labels = [], []
    for every in sets.values():
        for one in every:
            if one.asked.question.words:
                best, f1 = best_words(one, weights)
                rows.append({"words": best.words, "score": best.score})
                labels.append(f1 >= 0.5)
    return _logistic(rows, labels, np.ones(len(rows)))


def best_words(one: Read, weights: Weights) -> tuple[short_answer.Candidate, float]:
    """The words that are chosen, and their word F1."""
    best = short_answer.candidates(one.asked.features, weights)[0]
    document = one.asked.features.sentences[best.sentence].document
    if document.title != one.asked.question.document:
        return best, 0.0
    golds = [document.text[start:end] for start, end in one.asked.question.golds]
    return best, word_f1(document.text[best.start : best.end], golds)


# --- all of it ---


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True),
    default=READER_WEIGHTS,
    show_default=True,
    help="Of the reader.",
)
@click.option("--source", "only", multiple=True, help="Only these sources.")
@click.option("--out", type=click.Path(path_type=Path), default=FITTED_FILE, show_default=True)
def main(
    data: Path,
    meetings: Path,
    folder: Path,
    weights: Path,
    only: tuple[str, ...],
    out: Path,
) -> None:
    """Search, read, fit, print, write."""
    torch.set_num_threads(1)
    questions = build(data, meetings, folder)
    chosen = {name: each for name, each in questions.items() if not only or name in only}
    sets = read(dict(sources(folder, chosen)), weights, folder)
    for source, every in sets.items():
        others = {name: each for name, each in sets.items() if name != source} or sets
        found = fit_sentence(others)
        for enough in SHARES:
            shown = figures(every, found, enough)
            click.echo(f"{source} {enough} " + " ".join(f"{k} {v:.2f}" for k, v in shown.items()))
    sentence = fit_sentence(sets)
    report(sets, sentence, out)


def report(sets: Mapping[str, Sequence[Read]], sentence: Weights, out: Path) -> None:
    """Fit what follows from the sentences' weights; print and write it.

    When nothing is answered is left as it is: `fit_abstention.py` fits that on folders.
    """
    answered = {source: [one for one in every if one.answerable] for source, every in sets.items()}
    good = {source: [one.asked.features for one in every] for source, every in answered.items()}
    bad = {source: _bad(every) for source, every in sets.items()}
    unread = fit_answerable(_unread(good), _unread(bad), sentence)
    below = FITTED.abstain_below
    right = {source: _likely(each, sentence) for source, each in good.items()}
    for source, each in right.items():
        others = _likely(bad[source], sentence)
        auc = np.mean([(a > others) + 0.5 * (a == others) for a in each])
        at = np.quantile(each, WITHHELD)
        click.echo(
            f"{source}: AUC {auc:.3f}, withheld at its own 5 % {100 * (others < at).mean():.1f} %; "
            f"at {below:.3f} wrongly {100 * (each < below).mean():.1f} %, "
            f"rightly {100 * (others < below).mean():.1f} %"
        )
    wrong = {source: _likely(each, sentence) for source, each in bad.items()}
    click.echo(f"reliability: {reliability(right, wrong)}")
    short = fit_short(sets, sentence)
    for source, every in answered.items():
        found = [best_words(one, sentence) for one in every]
        shown = [100 * (best.probability(short) >= above) for above in SHOWN for best, _ in found]
        means = " ".join(f"{fmean(each):.0f}" for each in np.array_split(shown, len(SHOWN)))
        click.echo(f"{source}: F1 {100 * fmean(f1 for _, f1 in found):.1f}, shown {means}")
    values = json.loads(FITTED_FILE.read_text(encoding="utf-8")) | {
        "sentence": sentence,
        "answerable_unread": unread,
        "short": short,
        "short_above": SHOWN[0],
        "short_above_open": SHOWN[-1],
        "enough": ENOUGH,
    }
    out.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _unread(
    every: Mapping[str, Sequence[SentenceFeatures]],
) -> dict[str, list[SentenceFeatures]]:
    return {name: [replace(one, reading=None) for one in each] for name, each in every.items()}


def reliability(
    right: Mapping[str, NDArray[np.float64]], wrong: Mapping[str, NDArray[np.float64]]
) -> str:
    """By tenths of the probability: the share that is answerable, and of how many questions.

    Evidence with the answer left out is as frequent as evidence with it, in every source.
    """
    likely = np.concatenate([*right.values(), *wrong.values()])
    labels = np.repeat([1.0, 0.0], [sum(map(len, each.values())) for each in (right, wrong)])
    tenths = np.minimum((10 * likely).astype(int), 9)
    found = [(tenth / 10, labels[tenths == tenth]) for tenth in sorted(set(tenths.tolist()))]
    return ", ".join(f"{low:.1f}: {100 * each.mean():.0f} % of {len(each)}" for low, each in found)


def _bad(every: Sequence[Read]) -> list[SentenceFeatures]:
    """Evidence that does not answer: near misses, or else answers left out."""
    near = [one.asked.features for one in every if not one.answerable]
    readings = [(one, one.asked.features.reading) for one in every if one.answerable]
    left = [without_answer(one, reading) for one, reading in readings if reading is not None]
    return near or [each for each in left if each is not None]


def _likely(every: Sequence[SentenceFeatures], sentence: Weights) -> NDArray[np.float64]:
    """The probability of an answer, of each, with the weights that `fit_abstention.py` fitted."""
    weights = FITTED.answerable
    rows = [abstention.answer_features(one, sentence) for one in every]
    totals = [sum(weights[k] * v for k, v in row.items()) + weights["bias"] for row in rows]
    related = np.array([abstention.relatedness(one) for one in every])
    return np.asarray(related / (1 + np.exp(-np.array(totals))))


if __name__ == "__main__":
    main()
