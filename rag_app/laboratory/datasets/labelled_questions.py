"""Questions with reference answers and gold evidence, of three kinds.

QMSum's specific queries, each asked of its own meeting, with a reference
answer and gold utterances; SQuAD's, asked of all articles of the file, with the words that answer
(`rag_app.laboratory.datasets.squad`); and a person's own, JSON lines of `{"question", "answer",
"answerable", "short", "evidence": [{"path", "quote"}]}`, asked of the folder in which their file
lies. Lines that `rag-app ratings` wrote are asked of the corpus as it is; where an answer was found
bad, its line is left out until it has the right one.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from indexing.errors import UnreadableFile
from indexing.filter import Filter
from indexing.store.view import DocumentEntry
from rag_app.batch.qmsum import Meeting, meetings
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.squad import Article, articles

_SHUFFLE_SEED = 5  # of the order of QMSum's questions


@dataclass(frozen=True, slots=True)
class Gold:
    """A span that answers a question."""

    document: str
    start: int
    end: int

    def overlaps(self, document: str, start: int, end: int) -> bool:
        """Whether this and a span of a document share half of the shorter of the two."""
        shared = min(self.end, end) - max(self.start, start)
        shorter = min(self.end - self.start, end - start)
        return document == self.document and shared >= 0.5 * shorter


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its reference answer and gold evidence.

    Attributes:
        question: Its text.
        reference: The reference answer; "" where there is none.
        gold: Spans that hold the answer; none for an unanswerable question.
        document: Id of the one document to search; None for all.
        answerable: Whether the documents hold an answer.
        short: The words that answer, as each annotator marked them; none where nobody did.
    """

    question: str
    reference: str
    gold: tuple[Gold, ...]
    document: str | None = None
    answerable: bool = True
    short: tuple[str, ...] = ()

    @property
    def where(self) -> Filter | None:
        """The filter of the search."""
        return Filter(documents=(self.document,)) if self.document else None


def in_gold(golds: Sequence[Gold], document: str, start: int, end: int) -> bool:
    """Whether a span overlaps one of the gold spans by half of the shorter of the two."""
    return any(gold.overlaps(document, start, end) for gold in golds)


def load_questions(data: Path, corpus: Corpus) -> list[LabelledQuestion]:
    """Load the questions of a file and index their documents.

    Raises:
        UnreadableFile: The data cannot be read.
    """
    if (labelled := articles(data)) is not None:
        corpus.add_documents([article.document for article in labelled])
        return _article_questions(labelled)
    records = _question_records(data)
    if records is None:
        corpus.add([data])
        return _meeting_questions(meetings(data))
    rated = all("rated" in each for each in records)
    if not (rated and corpus.documents()):
        corpus.add([data.parent])
    records = [each for each in records if each.get("rated") != "down" or each.get("answer")]
    texts = {entry.id: corpus.document(entry.id).text for entry in corpus.documents()}
    entries = {entry.id: entry for entry in corpus.documents()}
    return [_own_question(each, texts, entries) for each in records]


def _question_records(data: Path) -> list[dict[str, Any]] | None:
    """The objects of a JSON-lines file of questions; None where it is something else."""
    if not data.is_file() or data.suffix != ".jsonl":
        return None
    try:
        rows = [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        remedy = "write one JSON object a line, in UTF-8"
        raise UnreadableFile(data, f"is not JSON lines ({error})", remedy) from error
    valid = all(isinstance(row, dict) and isinstance(row.get("question"), str) for row in rows)
    return rows if rows and valid else None


def _own_question(
    values: dict[str, Any], texts: Mapping[str, str], entries: Mapping[str, DocumentEntry]
) -> LabelledQuestion:
    golds = []
    for evidence in values.get("evidence", ()):
        path, part = str(evidence.get("path", "")), str(evidence.get("part", ""))
        quote = r"\s+".join(map(re.escape, str(evidence.get("quote", "")).split()))
        for name, text in texts.items():
            if quote and _is_at(entries[name], path, part):
                golds += [Gold(name, *each.span()) for each in re.finditer(quote, text)][:1]
    return LabelledQuestion(
        values["question"],
        str(values.get("answer") or ""),
        tuple(golds),
        answerable=bool(values.get("answerable", True)),
        short=tuple(filter(None, [str(values.get("short") or "")])),
    )


def _is_at(entry: DocumentEntry, path: str, part: str) -> bool:
    """Whether a document is the one that gold evidence names; what it does not name is any.

    Args:
        entry: The document.
        path: The end of its path, in whole names: "budget.txt" is not "old-budget.txt".
        part: Which document of its file.
    """
    names = PurePosixPath(path).parts
    ends_so = not names or PurePosixPath(entry.path).parts[-len(names) :] == names
    return ends_so and part in ("", entry.part)


def _article_questions(labelled: Sequence[Article]) -> list[LabelledQuestion]:
    """The questions of articles, in a fixed random order; near misses have no gold span."""
    questions = []
    for article in labelled:
        name, text = article.document.id, article.document.text
        for one in article.questions:
            words = tuple(text[start:end] for start, end in one.spans)
            golds = tuple(Gold(name, start, end) for start, end in one.spans)
            reference = words[0] if words else ""
            questions.append(
                LabelledQuestion(one.text, reference, golds, None, bool(one.spans), words)
            )
    random.Random(_SHUFFLE_SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
    return questions


def _meeting_questions(sources: Sequence[Meeting]) -> list[LabelledQuestion]:
    """Every specific query with gold utterances, in a fixed random order."""
    questions = [
        LabelledQuestion(
            question.text,
            question.answer,
            tuple(_utterance_spans(meeting, question.utterances)),
            meeting.document.id,
        )
        for meeting in sources
        for question in meeting.specific
        if question.utterances
    ]
    random.Random(_SHUFFLE_SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
    return questions


def _utterance_spans(meeting: Meeting, numbers: Sequence[int]) -> Iterator[Gold]:
    for number in numbers:
        utterance = meeting.document.utterances[number]
        yield Gold(meeting.document.id, utterance.start, utterance.end)
