"""What is known of the sentences retrieved for a question, but for what the reader says; kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from long_documents import LongQuestion
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from generator.evidence import Sentence, evidence_sentences, gather_evidence
from generator.extractive.context.late_chunking import ContextualEncoder
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.request import EVIDENCE_DOCUMENTS
from generator.settings import EVIDENCE_PASSAGES
from indexing.documents import Document
from indexing.filter import Filter
from indexing.text.terms import content_stems
from rag_app.corpus.corpus import Corpus
from rag_app.progress import track
from retriever.fusion import EVIDENCE

_HALF = 0.5  # of the shorter of two spans: what they share where one is evidence for the other


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what was retrieved for it.

    Attributes:
        question: The question.
        features: Of the sentences.
        gold: (n,) whether each sentence is evidence.
    """

    question: LongQuestion
    features: SentenceFeatures
    gold: NDArray[np.bool_]


def ask(corpus: Path, questions: Sequence[LongQuestion], cache: Path) -> list[Asked]:
    """Search for each question; meetings' are asked of their own meeting.

    Args:
        corpus: The corpus's folder.
        questions: Of its documents.
        cache: A file that is written, or read where it is there.
    """
    if not cache.exists():
        with Corpus(corpus) as opened:
            _search(opened, questions, cache)
    arrays = load_file(cache)
    rows = json.loads(cache.with_suffix(".json").read_text("utf-8"))
    documents: dict[str, Document] = {}
    with Corpus(corpus) as opened:

        def document(name: str) -> Document:
            if name not in documents:
                documents[name] = opened.document(name)
            return documents[name]

        return [
            _restored(one, row, number, arrays, document)
            for number, (one, row) in enumerate(zip(questions, rows, strict=True))
        ]


Row = list[tuple[str, int, int, float, int | None, str | None]]
"""Of each sentence: document, start, end, score, utterance, speaker."""


def _search(corpus: Corpus, questions: Sequence[LongQuestion], cache: Path) -> None:
    context, arrays, rows = ContextualEncoder(), {}, []
    ids = {entry.title: entry.id for entry in corpus.documents()}
    with corpus.retriever(EVIDENCE) as retriever, track(questions, doing=cache.stem) as steps:
        words = WordVectors(retriever.embed)
        for number, one in enumerate(steps):
            where = Filter() if one.words else Filter(documents=(ids[one.document],))
            hits = retriever.search(
                one.text, k=EVIDENCE_DOCUMENTS, passages=EVIDENCE_PASSAGES, where=where
            )
            passages = gather_evidence(hits, corpus.document).passages
            sentences = evidence_sentences(passages[:EVIDENCE_PASSAGES])
            features = replace(
                SentenceFeatures.of(one.text, sentences, words),
                contextual=context.score(one.text, sentences),
            )
            for name in ("similarity", "word_similarity", "word_weights", "contextual"):
                arrays[f"{number}.{name}"] = np.ascontiguousarray(getattr(features, name))
            rows.append([_row(each) for each in sentences])
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.with_suffix(".json").write_text(json.dumps(rows), encoding="utf-8")
    save_file(arrays, cache)


def _row(one: Sentence) -> tuple[str, int, int, float, int | None, str | None]:
    return one.document.id, one.start, one.end, float(one.score), one.utterance, one.speaker


def _restored(
    question: LongQuestion,
    row: Row,
    number: int,
    arrays: dict[str, NDArray[np.float32]],
    document: Callable[[str], Document],
) -> Asked:
    sentences = [Sentence(document(name), *rest) for name, *rest in row]
    features = SentenceFeatures(
        question.text,
        question.text,
        sentences,
        [content_stems(each.text) for each in sentences],
        similarity=arrays[f"{number}.similarity"],
        word_similarity=arrays[f"{number}.word_similarity"],
        word_weights=arrays[f"{number}.word_weights"],
        contextual=arrays[f"{number}.contextual"],
    )
    gold = [answers(one, question) for one in sentences]
    return Asked(question, features, np.array(gold, bool))


def answers(sentence: Sentence, question: LongQuestion) -> bool:
    """Whether it is in the document asked of and shares half of the shorter with what answers."""
    if sentence.document.title != question.document:
        return False
    return any(_share(sentence, gold) for gold in question.golds)


def _share(one: Sentence, span: tuple[int, int]) -> bool:
    shorter = min(one.end - one.start, span[1] - span[0])
    return min(one.end, span[1]) - max(one.start, span[0]) >= _HALF * shorter


def sources(
    folder: Path, questions: dict[str, list[LongQuestion]]
) -> Iterator[tuple[str, list[Asked]]]:
    """What was retrieved for the questions of each source."""
    for source, each in questions.items():
        yield source, ask(folder / f"{source}.corpus", each, folder / f"{source}.safetensors")
