"""The first step at which the words that answer were lost, of an answer that they do not lead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.folders.questions import FolderQuestion
from generator.draft import Draft
from generator.evidence import Sentence, Span, evidence_sentences
from generator.extractive.features import SentenceFeatures
from generator.extractive.ranking import answer_scores
from generator.lm.calibration_record import AnswerMode
from generator.request import AskRequest, Retrieval
from indexing.documents import Document
from indexing.filter import OWNER
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.question_answering import QuestionAnswering

STEPS = (
    "file reading",
    "kind of request",
    "document ranking",
    "passage ranking",
    "sentences offered",
    "abstention",
    "reader",
    "joined score",
    "words chosen",
)
"""In the order in which an answer goes through them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Where an answer was lost.

    Attributes:
        step: One of `STEPS`.
        detail: What happened there, for developers.
    """

    step: str
    detail: str = ""


def lost_at(
    corpus: Corpus, question: FolderQuestion, request: AskRequest, *, abstained: bool
) -> Loss:
    """The first step after which the words that answer were not there, or not first.

    Args:
        corpus: Of the question's folder.
        question: One whose answer is not led by the right words.
        request: What was asked.
        abstained: Whether the answer was that the documents do not say.
    """
    golds = list(_golds(corpus, question))
    if not golds:
        return Loss("file reading")
    answering = corpus._answering
    first = answering._find(request, OWNER)[0]
    route, retrieval = first.route, first.retrieval
    if route.lines is not None:
        return Loss("kind of request", route.read_as)
    where = route.request.where
    found = {hit.document for hit in retrieval.hits}
    if not any(document.id in found for document, _, _ in golds):
        limited = where != request.where
        return Loss("kind of request" if limited else "document ranking", route.read_as)
    passages, features = _read(answering, route.request, retrieval)
    if not any(_holds(one, golds) for one in passages):
        return Loss("passage ranking")
    return _lost_among(features, golds, question, abstained=abstained)


def evidence_of(corpus: Corpus, request: AskRequest) -> SentenceFeatures | None:
    """What is known of the sentences for a request; None where the store answers it."""
    first = corpus._answering._find(request, OWNER)[0]
    if first.route.lines is not None:
        return None
    return _read(corpus._answering, first.route.request, first.retrieval)[1]


def _read(
    answering: QuestionAnswering, request: AskRequest, retrieval: Retrieval
) -> tuple[Sequence[Span], SentenceFeatures]:
    generator = answering._generator
    draft = Draft(request, AnswerMode("quote", "as asked"), None)
    passages = generator._evidence(draft, retrieval).best(generator.settings.passages)
    return passages, generator._features(draft, evidence_sentences(passages, request.aliases))


def _lost_among(
    features: SentenceFeatures,
    golds: Sequence[tuple[Document, int, int]],
    question: FolderQuestion,
    *,
    abstained: bool,
) -> Loss:
    """As `lost_at`, of the sentences of evidence."""
    gold = [i for i, one in enumerate(features.sentences) if _holds(one, golds)]
    gold = [i for i in gold if re.search(question.leads, features.sentences[i].read, re.I)] or gold
    scores = answer_scores(features)
    order = list(map(int, np.argsort(-scores, kind="stable")))
    if not any(np.isfinite(scores[i]) for i in gold):
        return Loss("sentences offered", _text(features.sentences, gold))
    place = min(order.index(i) for i in gold)
    detail = f"{place + 1}. of {len(order)}; first: {features.sentences[order[0]].read[:160]!r}"
    if abstained:
        return Loss("abstention", detail)
    if place == 0:
        return Loss("words chosen", detail)
    if features.reading is None:
        return Loss("joined score", detail)
    read = features.reading.relevance + features.reading.spans / 2
    best = max(float(read[i]) for i in gold)
    step = "joined score" if best >= float(read[order[0]]) else "reader"
    return Loss(step, detail)


def _text(sentences: Sequence[Sentence], indexes: Sequence[int]) -> str:
    return " / ".join(sentences[i].read[:160] for i in indexes[:2])


def _holds(one: Span | Sentence, golds: Sequence[tuple[Document, int, int]]) -> bool:
    """Whether a span or sentence shares characters with the words that answer."""
    return any(
        one.document.id == gold.id and one.start < last and first < one.end
        for gold, first, last in golds
    )


def _golds(corpus: Corpus, question: FolderQuestion) -> Iterator[tuple[Document, int, int]]:
    """Where the words that answer stand in the documents of their file."""
    for entry in corpus.documents():
        if question.file not in (Path(entry.path).name, Path(entry.part).name):
            continue
        document = corpus.document(entry.id)
        for first, last in _places(question.quote, document.text):
            yield document, first, last


def _places(quote: str, text: str) -> list[tuple[int, int]]:
    """Where a quote stands, whatever the white space; of a row, where its cells share a line."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    spans = [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    cells = [" ".join(cell.split()).casefold() for cell in quote.split(" | ") if cell.strip()]
    if spans or len(cells) < 2:
        return spans
    return [
        line.span()
        for line in re.finditer(r"[^\n]+", text)
        if all(cell in " ".join(line.group().split()).casefold() for cell in cells)
    ]
