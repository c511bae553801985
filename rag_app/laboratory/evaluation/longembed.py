"""LongEmbed: retrieval of long documents (Zhu et al., arXiv 2404.12096).

QMSum is rebuilt exactly from its release: a document is every utterance of a meeting as "speaker:
content", one a line; a query is the *answer* to one of its general or specific queries, each text
once, and the first meeting that has it is relevant. Training and validation split together are the
task that MTEB scores: 197 documents of 10,507,156 characters, 1,527 queries of 661,959.

Passkey and needle are generated; the score of each length is accuracy at 1, and the task's score
their mean. The other tasks are loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import TypeVar

from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest
from rag_app.batch import qmsum
from rag_app.laboratory.datasets import synthetic
from rag_app.laboratory.datasets.haystack import haystack
from rag_app.laboratory.datasets.hub import HUB_TASKS, lies_in, load
from rag_app.laboratory.datasets.task import Task, TaskQuery
from rag_app.laboratory.evaluation import metrics
from rag_app.laboratory.evaluation.collection import Collection, open_collection

Number = TypeVar("Number", int, float)

GENERATED = ("passkey", "needle")
TASKS = ("qmsum", *GENERATED, *HUB_TASKS)


@dataclass(frozen=True, slots=True)
class Method:
    """What is measured: an encoder and a ranking.

    Attributes:
        encoder: How documents and queries are encoded.
        ranking: A name from `retriever.fusion.RANKINGS`.
    """

    encoder: EncoderSettings
    ranking: str = "default"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task's documents come from.

    Attributes:
        data: QMSum files; for a task of the hub, a folder with its three files.
        haystack: Documents to hide needles in; None takes the samples.
        lengths: Lengths of generated documents, in tokens.
        seed: Of what is generated.
        documents: How many are generated of each length; LongEmbed has 100.
    """

    data: Path | None = None
    haystack: Path | None = None
    lengths: tuple[int, ...] = synthetic.LENGTHS
    seed: int = 0
    documents: int = synthetic.DOCUMENTS


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Scores of a task, or of one length of it.

    Attributes:
        statistics: Numbers of documents, queries and their characters.
        ndcg_at_10: Mean over queries, 0 to 1.
        acc_at_1: Share of queries whose document is ranked first.
        encoded: Documents that were encoded for it; the others were cached.
        seconds: "encode" and "rank".
    """

    statistics: dict[str, int]
    ndcg_at_10: float
    acc_at_1: float
    encoded: int
    seconds: dict[str, float]

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return {
            **self.statistics,
            "ndcg_at_10": round(self.ndcg_at_10, 5),
            "acc_at_1": round(self.acc_at_1, 5),
            "encoded": self.encoded,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Results of a method on a task, by length where there are several.

    Attributes:
        task: One of `TASKS`.
        fingerprint: The encoder's fingerprint.
        ranking: Name of the ranking.
        parts: By length; a single one named "" for a task without lengths.
    """

    task: str
    fingerprint: Fingerprint
    ranking: str
    parts: dict[str, TaskResult]

    @property
    def total(self) -> TaskResult:
        """Sums of the counts and seconds, means of the scores."""
        parts = list(self.parts.values())
        return TaskResult(
            statistics=_sum([part.statistics for part in parts]),
            ndcg_at_10=fmean(part.ndcg_at_10 for part in parts),
            acc_at_1=fmean(part.acc_at_1 for part in parts),
            encoded=sum(part.encoded for part in parts),
            seconds=_sum([part.seconds for part in parts]),
        )

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        several = {name: part.as_dict() for name, part in self.parts.items() if name}
        return {
            "task": self.task,
            **self.total.as_dict(),
            **({"lengths": several} if several else {}),
            "retriever": self.ranking,
            "fingerprint": self.fingerprint.as_dict(),
        }


def evaluate(
    task: str,
    source: Source,
    method: Method,
    *,
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Report:
    """Measure a method on a task.

    Args:
        task: One of `TASKS`.
        source: Where its documents come from.
        method: What is measured.
        folder: Where to keep the corpus, or find it; for a generated task, one a length within.
        notify: Told about anything unusual, in a sentence.

    Raises:
        InvalidRequest: No such task, or it needs `source.data`.
        UnreadableFile: The data cannot be read.
    """
    tasks = build(task, source)
    encoder = Encoder(method.encoder, notify=notify)
    parts = {}
    for name, part in tasks.items():
        place = folder / part.name if folder and name else folder
        with open_collection(
            part,
            encoder=encoder,
            ranking=method.ranking,
            folder=place,
            notify=notify,
        ) as collection:
            parts[name] = measure(collection)
    return Report(task, encoder.fingerprint, method.ranking, parts)


def build(task: str, source: Source) -> dict[str, Task]:
    """The parts of a task: one a length for those that are generated, else one named ""."""
    if task in HUB_TASKS:
        return {"": load(task, source.data)}
    count, seed = source.documents, source.seed
    if task == "passkey":
        return {str(n): synthetic.passkey(n, documents=count, seed=seed) for n in source.lengths}
    if task == "needle":
        hay = haystack(source.haystack)
        return {
            str(n): synthetic.needle(n, hay, documents=count, seed=seed) for n in source.lengths
        }
    if task != "qmsum":
        raise InvalidRequest(f"no task {task!r}; there are: {', '.join(TASKS)}")
    if source.data is None:
        raise InvalidRequest("qmsum needs --data PATH: a QMSum .json or .jsonl file, or a folder")
    if lies_in(source.data):
        return {"": load(task, source.data)}
    return {"": qmsum_task(qmsum.meetings(source.data))}


def qmsum_task(meetings: Sequence[qmsum.Meeting]) -> Task:
    """LongEmbed's QMSum from meetings; answers without a letter or digit are left out."""
    gold: dict[str, int] = {}
    for position, meeting in enumerate(meetings):
        for question in (*meeting.general, *meeting.specific):
            if any(character.isalnum() for character in question.answer):
                gold.setdefault(question.answer, position)
    return Task(
        "qmsum",
        documents=tuple(meeting.document for meeting in meetings),
        queries=tuple(TaskQuery(text, position) for text, position in gold.items()),
    )


def measure(collection: Collection) -> TaskResult:
    """Rank all documents for every query."""
    task = collection.task
    started = perf_counter()
    ranks = collection.ranks()
    return TaskResult(
        statistics=task.statistics,
        ndcg_at_10=metrics.ndcg(ranks),
        acc_at_1=metrics.accuracy(ranks),
        encoded=collection.encoded,
        seconds={"encode": collection.seconds, "rank": perf_counter() - started},
    )


def _sum(parts: Sequence[dict[str, Number]]) -> dict[str, Number]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}
