"""Evidence for short questions: QMSum's specific queries, each with its gold utterances.

Measured for each question: the rank of the right meeting (nDCG@10, accuracy at 1), and, for a
context of at most 1,000 or 2,000 words, recall and hit. A context is made of the passages in the
retriever's order, up to the first that would cross the budget. Recall is the share of a question's
gold utterances that share a character with a passage of the context, averaged over the questions;
hit is the share of questions with at least one such utterance. Both are taken over the whole
corpus, and within the right meeting, where the search is limited to it. Questions without gold
utterances are ranked only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter

import numpy as np
import numpy.typing as npt

from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.filter import Filter
from indexing.text.chunking import count_words
from rag_app.batch.qmsum import Meeting, MeetingQuestion, meetings
from rag_app.laboratory.datasets.task import Task, TaskQuery
from rag_app.laboratory.evaluation import metrics
from rag_app.laboratory.evaluation.collection import Collection, open_collection
from rag_app.laboratory.evaluation.longembed import Method, TaskResult
from rag_app.progress import track
from retriever.query import Query

BUDGETS = (1000, 2000)

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the evidence contexts of one size cover.

    Attributes:
        recall: Mean share of a question's gold utterances.
        hit: Share of questions with at least one of them.
    """

    recall: float
    hit: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> Coverage:
        """From the share that each question's context covers."""
        return cls(fmean(shares), fmean(share > 0 for share in shares)) if shares else cls(0.0, 0.0)

    def as_dict(self) -> dict[str, float]:
        """Values for JSON."""
        return {"recall": round(self.recall, 5), "hit": round(self.hit, 5)}


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """Results of a method.

    Attributes:
        fingerprint: The encoder's fingerprint.
        ranking: Name of the ranking.
        meetings: Retrieval of the right meeting.
        questions: How many have gold utterances.
        corpus: By words of context, searched over all meetings.
        document: By words of context, searched within the right meeting.
    """

    fingerprint: Fingerprint
    ranking: str
    meetings: TaskResult
    questions: int
    corpus: dict[int, Coverage]
    document: dict[int, Coverage]

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        return {
            "task": "evidence",
            **self.meetings.as_dict(),
            "queries_with_evidence": self.questions,
            "corpus": {str(words): each.as_dict() for words, each in self.corpus.items()},
            "document": {str(words): each.as_dict() for words, each in self.document.items()},
            "retriever": self.ranking,
            "fingerprint": self.fingerprint.as_dict(),
        }


@dataclass(frozen=True)
class _ContextBuilder:
    """Fills contexts with the passages of a collection.

    Attributes:
        places: (passages,) document of the task, start and end, in the order of the scores.
        words: (passages,) word counts.
    """

    places: tuple[metrics.Place, ...]
    words: npt.NDArray[np.int64]

    @classmethod
    def of(cls, collection: Collection) -> _ContextBuilder:
        retriever, documents = collection.retriever, collection.task.documents
        owners = {int(at): number for number, at in enumerate(collection.positions)}
        spans = retriever.store.passage_spans()
        assert np.array_equal(spans[:, 0], retriever.snapshot.passage_rows)
        places = tuple(
            (owners[int(owner)], start, end)
            for owner, (start, end) in zip(
                retriever.snapshot.owner, spans[:, 2:].tolist(), strict=True
            )
        )
        words = [count_words(documents[d].text[start:end]) for d, start, end in places]
        return cls(places, np.array(words, np.int64))

    def context(self, scores: FloatArray, budget: int) -> list[metrics.Place]:
        """The passages of highest score that fit a budget of words; those of -inf are excluded."""
        order = np.argsort(-scores, kind="stable")
        order = order[np.isfinite(scores[order])]
        fitting = metrics.within_budget(self.words[order], budget)
        return [self.places[position] for position in order[:fitting]]


def evaluate(
    data: Path,
    method: Method,
    *,
    folder: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> EvidenceReport:
    """Measure a method on the specific queries of QMSum files.

    Args:
        data: A QMSum .json or .jsonl file, or a folder of them.
        method: What is measured.
        folder: Where to keep the corpus, or find it.
        notify: Told about anything unusual, in a sentence.

    Raises:
        UnreadableFile: The data cannot be read.
    """
    sources = meetings(data)
    encoder = Encoder(method.encoder, notify=notify)
    with open_collection(
        evidence_task(sources),
        encoder=encoder,
        ranking=method.ranking,
        folder=folder,
        notify=notify,
    ) as collection:
        return measure(sources, collection, method.ranking)


def evidence_task(sources: Sequence[Meeting]) -> Task:
    """Meetings with their specific queries, a query asked of two meetings twice."""
    return Task(
        "qmsum",
        documents=tuple(meeting.document for meeting in sources),
        queries=tuple(
            TaskQuery(question.text, position) for position, question in _questions(sources)
        ),
    )


def _questions(sources: Sequence[Meeting]) -> list[tuple[int, MeetingQuestion]]:
    """Every specific query that holds a word, with the position of its meeting."""
    return [
        (position, question)
        for position, meeting in enumerate(sources)
        for question in meeting.specific
        if any(character.isalnum() for character in question.text)
    ]


def measure(sources: Sequence[Meeting], collection: Collection, ranking: str) -> EvidenceReport:
    """Search for every question twice: in all meetings, and in the right one alone."""
    started = perf_counter()
    contexts = _ContextBuilder.of(collection)
    questions = _questions(sources)
    ranks: list[int] = []
    shares: dict[tuple[str, int], list[float]] = {
        (scope, words): [] for scope in ("corpus", "document") for words in BUDGETS
    }
    with track(questions, doing="Ranking") as steps:
        for position, question in steps:
            rank, scores = _score_question(collection, position, question)
            ranks.append(rank)
            gold = _gold(sources[position], question)
            for (scope, words), values in shares.items():
                if gold:
                    context = contexts.context(scores[scope], words)
                    values.append(metrics.coverage(gold, position, context))
    seconds = {"encode": collection.seconds, "rank": perf_counter() - started}
    coverage = {key: Coverage.of(each) for key, each in shares.items()}
    return EvidenceReport(
        fingerprint=_fingerprint(collection),
        ranking=ranking,
        meetings=TaskResult(
            collection.task.statistics,
            metrics.ndcg(ranks),
            metrics.accuracy(ranks),
            collection.encoded,
            seconds,
        ),
        questions=len(shares["corpus", BUDGETS[0]]),
        corpus={words: coverage["corpus", words] for words in BUDGETS},
        document={words: coverage["document", words] for words in BUDGETS},
    )


def _fingerprint(collection: Collection) -> Fingerprint:
    fingerprint = collection.retriever.store.fingerprint()
    assert fingerprint is not None
    return fingerprint


def _score_question(
    collection: Collection, position: int, question: MeetingQuestion
) -> tuple[int, dict[str, FloatArray]]:
    """The rank of the right meeting, and scores of all passages by the scope of the search."""
    retriever, query = collection.retriever, Query.of(question.text)
    everywhere = retriever.score(query)
    row = int(retriever.snapshot.document_rows[collection.positions[position]])
    (entry,) = retriever.store.documents_at([row])
    within = retriever.score(query, where=Filter(documents=(entry.id,)))
    rank = metrics.rank(everywhere.documents[collection.positions], position)
    return rank, {"corpus": everywhere.passages, "document": within.passages}


def _gold(meeting: Meeting, question: MeetingQuestion) -> list[metrics.Offsets]:
    utterances = meeting.document.utterances
    return [(utterances[number].start, utterances[number].end) for number in question.utterances]
