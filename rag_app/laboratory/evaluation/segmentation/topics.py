"""Topics of an overview against those that people marked in QMSum's meetings (`topic_list`).

Units are utterances. A segment is a run of utterances of one marked topic; one that nobody marked
is a segment of its own when it has more than ten utterances, else it belongs to the topic before
it. Parameters were fitted on every second meeting, from the first; figures are of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from generator.overview.blocks import blocks
from generator.overview.segmentation import segment
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import UnreadableFile
from rag_app.batch.qmsum import Meeting, meetings
from rag_app.laboratory.datasets.task import Task
from rag_app.laboratory.evaluation import bootstrap
from rag_app.laboratory.evaluation.collection import Collection, open_collection
from rag_app.laboratory.evaluation.segmentation.metrics import Labels, pk, window, window_diff
from rag_app.laboratory.evaluation.segmentation.text_tiling import TextTiling
from rag_app.progress import track

UNMARKED = 10  # utterances of a run without a topic that still belongs to the topic before it
SEGMENTS = 6  # of even and random cuts: the mean of the meetings for fitting, rounded
DRAWS = 10  # of random cuts, averaged
TUNED_TILING = TextTiling(w=100, k=6, cutoff=-2.5)

Method = Callable[[Meeting], Labels]
Outcome = tuple[float, float, float]  # Pk, WindowDiff, segments


@dataclass(frozen=True, slots=True)
class TopicsReport:
    """Figures of each method over the held-out meetings.

    Attributes:
        meetings: How many.
        segments: Of the reference, mean.
        outcomes: By method, an outcome for each meeting.
    """

    meetings: int
    segments: float
    outcomes: Mapping[str, Sequence[Outcome]]

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints; intervals are of 95 %, over meetings."""
        return {
            "task": "topics",
            "meetings": self.meetings,
            "segments": round(self.segments, 2),
            "methods": {name: _figures(each) for name, each in self.outcomes.items()},
        }


def _figures(outcomes: Sequence[Outcome]) -> dict[str, object]:
    errors = np.array([outcome[0] for outcome in outcomes])
    low, high = bootstrap.interval(errors, bootstrap.mean)
    return {
        "pk": round(float(errors.mean()), 4),
        "pk_interval": [round(low, 4), round(high, 4)],
        "window_diff": round(fmean(outcome[1] for outcome in outcomes), 4),
        "segments": round(fmean(outcome[2] for outcome in outcomes), 2),
    }


def evaluate(
    data: Path,
    *,
    fitting: bool = False,
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> TopicsReport:
    """Measure the topics of overviews beside TextTiling, even, random and no cuts.

    Args:
        data: A QMSum .json or .jsonl file, or a folder of them.
        fitting: Measure on the meetings that parameters were fitted on instead of the others.
        folder: Where to keep the corpus, or find it.
        notify: Told about anything unusual, in a sentence.

    Raises:
        UnreadableFile: The data cannot be read, or marks no topics.
    """
    every = meetings(data)
    task = Task("qmsum", tuple(meeting.document for meeting in every), queries=())
    selection = [one for one in every[0 if fitting else 1 :: 2] if one.topics]
    if not selection:
        raise UnreadableFile(data, "has no meeting to measure on that marks topics", "name QMSum's")
    encoder = Encoder(EncoderSettings(), notify=notify)
    with open_collection(
        task, encoder=encoder, ranking="bm25", folder=folder, notify=notify
    ) as collection:
        return measure(selection, methods(collection))


def methods(collection: Collection) -> dict[str, Method]:
    """What is compared, by name."""
    store = collection.retriever.store
    ids = {digest: id_ for digest, (id_, _) in store.digests().items()}

    def overview(meeting: Meeting) -> Labels:
        document, id_ = meeting.document, ids[meeting.document.digest]
        vectors = store.passage_vectors_of(id_)
        parts = segment(blocks(document), store.passages_of(id_), vectors)
        starts = [utterance.start for utterance in document.utterances]
        return np.searchsorted([part[0].start for part in parts], starts, side="right")

    return {
        "overview": overview,
        "TextTiling, tuned": tiling(TUNED_TILING),
        "TextTiling, as published": tiling(TextTiling()),
        "even": lambda meeting: even(len(meeting.document.utterances)),
        "none": lambda meeting: np.zeros(len(meeting.document.utterances), np.int64),
    }


def tiling(parameters: TextTiling) -> Method:
    """TextTiling over utterances."""

    def labels(meeting: Meeting) -> Labels:
        text, utterances = meeting.document.text, meeting.document.utterances
        borders = parameters.borders([text[each.text_start : each.end] for each in utterances])
        return np.searchsorted(borders, np.arange(len(utterances)), side="right")

    return labels


def even(units: int, segments: int = SEGMENTS) -> Labels:
    """(units,) labels of segments of equal length."""
    return np.arange(units) * segments // max(units, 1)


def random(units: int, seed: int, segments: int = SEGMENTS) -> Labels:
    """(units,) labels of segments between borders drawn at random."""
    drawing = np.random.default_rng(seed)
    borders = drawing.choice(np.arange(1, units), min(segments - 1, units - 1), replace=False)
    return np.searchsorted(np.sort(borders), np.arange(units), side="right")


def reference(meeting: Meeting) -> Labels:
    """(utterances,) labels of the segments that people marked; of two topics, the later one's."""
    labels = np.full(len(meeting.document.utterances), -1, np.int64)
    spans = [(span, number) for number, topic in enumerate(meeting.topics) for span in topic.spans]
    for (first, last), number in sorted(spans):
        labels[first : last + 1] = number
    edges = np.flatnonzero(np.diff(labels)) + 1
    for run in np.split(np.arange(len(labels)), edges):
        if labels[run[0]] < 0:
            long, start = len(run) > UNMARKED, run[0] == 0
            after = labels[run[-1] + 1] if run[-1] + 1 < len(labels) else 0
            labels[run] = (
                len(meeting.topics) + run[0] if long else after if start else labels[run[0] - 1]
            )
    return labels


def measure(selection: Sequence[Meeting], compared: Mapping[str, Method]) -> TopicsReport:
    """Every method on every meeting, and random cuts, averaged over draws."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in (*compared, "random")}
    counts = []
    with track(selection, doing="Dividing") as steps:
        for meeting in steps:
            gold = reference(meeting)
            counts.append(_segments(gold))
            for name, method in compared.items():
                outcomes[name].append(_outcome(gold, method(meeting)))
            draws = [_outcome(gold, random(len(gold), seed)) for seed in range(DRAWS)]
            mean = [fmean(values) for values in zip(*draws, strict=True)]
            outcomes["random"].append((mean[0], mean[1], mean[2]))
    return TopicsReport(len(selection), fmean(counts), outcomes)


def _outcome(gold: Labels, labels: Labels) -> Outcome:
    k = window(gold)
    return pk(gold, labels, k), window_diff(gold, labels, k), float(_segments(labels))


def _segments(labels: Labels) -> int:
    return 1 + int(np.count_nonzero(np.diff(labels)))
