"""How many places `rag-app every` finds and estimates: marked meetings, and needles in meetings.

The meetings are QMSum's, split by a seed: constants were fitted on the questions of the first 24,
and what is reported is of others. A passage counts as marked where half of it is, or half of a
marked stretch is in it. A needle's matter is one trade of one place, in one to twelve sentences
that are put between utterances of several meetings; a question asks for every time it is spoken of.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from numpy.typing import NDArray

from generator.instances.estimate import PROMISED, estimate
from generator.instances.instances import LEAST
from generator.instances.places import WEIGHTS
from indexing.documents import Document
from indexing.files import document
from indexing.filter import Filter
from rag_app.batch.qmsum import Meeting, meetings
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.facts import PATTERNS, PLACES, TRADES
from rag_app.progress import track

FITTED_ON = 24
"""Meetings, the first by the seed, whose questions were looked at."""
_SIZES = (1, 2, 3, 5, 8, 12)  # sentences on one matter
_IN_ONE = 6  # meetings that needles are put into

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and what came of it.

    Attributes:
        question: What was asked.
        truth: Passages that are marked.
        passages: Passages that there are.
        number: The estimate.
        low: Of its interval.
        high: Of its interval.
        found: Places shown, on all pages.
        right: Those of them that are marked.
        caught: Marked passages that were read.
        features: Of each passage read.
        both: Whether both searches caught each.
        marked: Whether each is.
    """

    question: str
    truth: int
    passages: int
    number: float
    low: float
    high: float
    found: int
    right: int
    caught: int
    features: tuple[Mapping[str, float], ...]
    both: tuple[bool, ...]
    marked: tuple[bool, ...]


def marked_cases(own: Sequence[Meeting], each: int, draw: random.Random) -> Iterator[Case]:
    """So many questions of each meeting, asked of it alone."""
    with TemporaryDirectory() as folder, Corpus(Path(folder)) as corpus:
        corpus.add_documents([one.document for one in own])
        for one in own:
            questions = draw.sample(one.specific, min(each, len(one.specific)))
            for asked in questions:
                gold = {one.document.id: _stretches(one.document, asked.utterances)}
                if gold[one.document.id]:
                    yield _case(corpus, asked.text, gold, Filter(documents=(one.document.id,)))


def needle_cases(own: Sequence[Meeting], each: int, draw: random.Random) -> Iterator[Case]:
    """So many matters in a folder of meetings, each question asked of all of them."""
    texts = [one.document.text.split("\n") for one in own]
    matters: dict[str, list[str]] = {}
    for number, trade in enumerate(draw.sample(TRADES, each)):
        place = PLACES[draw.randrange(len(PLACES))]
        kinds = [(one, answer) for one in PATTERNS for answer in one.answers]
        wanted = draw.sample(kinds, _SIZES[number % len(_SIZES)])
        said = [one.sentence.format(trade=trade, place=place, answer=a) for one, a in wanted]
        matters[f"Every time the {trade} of {place} is spoken of"] = said
        for sentence in said:
            lines = texts[draw.randrange(len(texts))]
            at = draw.randrange(1, len(lines))
            lines.insert(at, f"{lines[at - 1].partition(':')[0]}: {sentence}")
    documents = [
        document("\n".join(lines), name=f"{number}.txt", title=f"meeting {number}")
        for number, lines in enumerate(texts)
    ]
    with TemporaryDirectory() as folder, Corpus(Path(folder)) as corpus:
        corpus.add_documents(documents)
        for question, said in matters.items():
            gold = {
                one.id: [(at, at + len(each)) for each in said if (at := one.text.find(each)) >= 0]
                for one in documents
            }
            yield _case(corpus, question, gold, Filter())


def _stretches(document: Document, utterances: Sequence[int]) -> list[Span]:
    """The marked utterances; those in a row as one stretch."""
    runs: list[list[int]] = []
    for number in utterances:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    every = document.utterances
    return [(every[run[0]].start, every[run[-1]].end) for run in runs]


def _case(corpus: Corpus, question: str, gold: Mapping[str, list[Span]], where: Filter) -> Case:
    everything = corpus.search(question, k=1000, passages=100_000, ranking="bm25", where=where)
    spans = {
        (hit.document, one.start, one.end): _is_marked(one.start, one.end, gold[hit.document])
        for hit in everything
        for one in hit.passages
    }
    read = corpus.every(question, page=1, where=where).read
    marked = [
        next(
            is_marked
            for (id_, start, end), is_marked in spans.items()
            if id_ == one.document.id and start <= one.statement.start < end
        )
        for one in read
    ]
    about = estimate([one.probability for one in read], [one.both for one in read])
    shown = [
        is_marked for one, is_marked in zip(read, marked, strict=True) if one.probability >= LEAST
    ]
    return Case(
        question=question,
        truth=sum(spans.values()),
        passages=len(spans),
        number=about.number,
        low=about.low,
        high=about.high,
        found=len(shown),
        right=sum(shown),
        caught=sum(marked),
        features=tuple(one.features for one in read),
        both=tuple(one.both for one in read),
        marked=tuple(marked),
    )


def _is_marked(start: int, end: int, gold: Sequence[Span]) -> bool:
    shared = [max(0, min(end, last) - max(start, first)) for first, last in gold]
    of_one = any(2 * n >= b - a for n, (a, b) in zip(shared, gold, strict=True))
    return of_one or 2 * sum(shared) >= end - start


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured of some cases.

    Attributes:
        kind: Which.
        questions: How many there are.
        places: Marked passages.
        holds: How often the interval holds the number of them, 0 to 1.
        below: How often it lies below.
        width: Median of its upper end by its lower end, a half added to both.
        ratio: Median of the estimate by the number, a half added to both.
        precision: Of what is shown, that is marked.
        recall: Of what is marked, that is shown.
        caught: The same, that was read.
    """

    kind: str
    questions: int
    places: int
    holds: float
    below: float
    width: float
    ratio: float
    precision: float
    recall: float
    caught: float


def outcome(kind: str, cases: Sequence[Case]) -> Outcome:
    """The figures of some cases, one at least."""
    places = sum(one.truth for one in cases) or 1
    return Outcome(
        kind,
        len(cases),
        sum(one.truth for one in cases),
        float(np.mean([round(one.low) <= one.truth <= round(one.high) for one in cases])),
        float(np.mean([round(one.high) < one.truth for one in cases])),
        float(np.median([(one.high + 0.5) / (one.low + 0.5) for one in cases])),
        float(np.median([(one.number + 0.5) / (one.truth + 0.5) for one in cases])),
        sum(one.right for one in cases) / (sum(one.found for one in cases) or 1),
        sum(one.right for one in cases) / places,
        sum(one.caught for one in cases) / places,
    )


def fitted(cases: Sequence[Case]) -> tuple[dict[str, float], float]:
    """The weights of `WEIGHTS` with the bias as "bias", and the width of the interval.

    The weights are those of a logistic regression (ridge of 1), each question counting alike; the
    width is the quantile that a conformal interval of `PROMISED` has on the same cases.
    """
    names = [*WEIGHTS]
    rows = [[1.0, *(each[name] for name in names)] for one in cases for each in one.features]
    x, y = np.array(rows), np.array([mark for one in cases for mark in one.marked], float)
    each = np.array([1 / len(one.marked) for one in cases for _ in one.marked])
    each *= len(each) / each.sum()
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (each * p * (1 - p))[:, None]).T @ x + np.eye(len(w))
        w += np.linalg.solve(hessian, x.T @ (each * (y - p)) - w)
    scores, at = [], 0
    for one in cases:
        own: NDArray[np.float64] = x[at : at + len(one.marked)]
        at += len(one.marked)
        chances = [float(p) for p in 1 / (1 + np.exp(-own @ w))]
        about = estimate(chances, one.both)
        deviation = math.log((about.high + 0.5) / (about.number + 0.5))
        scores.append(abs(math.log((one.truth + 0.5) / (about.number + 0.5))) / deviation)
    share = min(1.0, PROMISED * (1 + 1 / len(scores)))
    return dict(zip(["bias", *names], map(float, w), strict=True)), float(
        np.quantile(scores, share)
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", "count", type=click.IntRange(1), default=12, show_default=True)
@click.option("--skip", type=click.IntRange(0), default=0, help="Meetings left out before them.")
@click.option("--questions", type=click.IntRange(1), default=3, help="Of each.", show_default=True)
@click.option("--matters", type=click.IntRange(1, 24), default=24, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--fit", is_flag=True, help="Of the meetings that constants were fitted on; fit them."
)
@with_json
def command(
    file: Path,
    count: int,
    skip: int,
    questions: int,
    matters: int,
    seed: int,
    fit: bool,
    as_json: bool,
) -> None:
    """The estimate's interval against QMSum's marked utterances (FILE) and needles."""
    every = meetings(file)
    random.Random(0).shuffle(every)
    own = (every[:FITTED_ON] if fit else every[FITTED_ON:])[skip : skip + count]
    draw = random.Random(seed)
    with track([*range(count * questions + matters)], doing="Asking") as bar:
        counted = (
            [one for one in _counted(marked_cases(own, questions, draw), bar) if one.truth],
            [*_counted(needle_cases(own[:_IN_ONE], matters, draw), bar)],
        )
    done = [outcome(*each) for each in zip(("marked", "needles"), counted, strict=True)]
    found = fitted(counted[0]) if fit else None

    def show() -> None:
        for one in done:
            click.echo(
                f"{one.kind}: {one.questions} questions, {one.places} places; the interval holds "
                f"{one.holds:.1%} (below the number: {one.below:.1%}), median width "
                f"{one.width:.1f}, estimate by number {one.ratio:.2f}; shown: precision "
                f"{one.precision:.1%}, recall {one.recall:.1%} (read: {one.caught:.1%})"
            )
        if found:
            click.echo(f"weights {json.dumps(found[0])}, width {found[1]:.3f}")

    print_result(as_json, {"outcomes": [asdict(one) for one in done], "fitted": found}, show)


def _counted(cases: Iterator[Case], bar: Iterator[int]) -> Iterator[Case]:
    for one in cases:
        next(bar, None)
        yield one
