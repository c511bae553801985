"""Questions on passages whose answers are words of the passage, as documents of whole articles.

SQuAD's JSON (Rajpurkar et al., arXiv 1606.05250; with unanswerable questions, arXiv 1806.03822), or
one passage a line, plain or gzipped: `{"source", "title", "text", "questions": [{"question",
"answers": [[start, end], ...]}]}`, where a question without answers is one that the passage does
not answer. Passages of one title become one document, a blank line between them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexing.documents import Document
from indexing.errors import UnreadableFile
from indexing.files import document as text_document

SUFFIXES = (".json", ".jsonl", ".jsonl.gz")
_REMEDY = "name a file of SQuAD's form, or JSON lines of passages with their questions"


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question with the words that answer.

    Attributes:
        text: The question.
        spans: First and last + 1 character of each annotator's answer in the article; none where it
            does not answer.
    """

    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A document of passages with their questions."""

    document: Document
    questions: tuple[SpanQuestion, ...]


@dataclass(frozen=True, slots=True)
class _Passage:
    title: str
    text: str
    questions: tuple[SpanQuestion, ...]


def articles(path: Path) -> list[Article] | None:
    """The articles of a file; None where it is of another form.

    Raises:
        UnreadableFile: It cannot be read, or is of this form and damaged.
    """
    if not path.is_file() or not path.name.endswith(SUFFIXES):
        return None
    records = _records(path)
    if not records:
        return None
    try:
        passages = [each for record in records for each in _passages(record)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnreadableFile(path, f"has a damaged entry ({error!r})", _REMEDY) from error
    titles: dict[str, list[_Passage]] = {}
    for passage in passages:
        titles.setdefault(passage.title, []).append(passage)
    return [_article(title, every) for title, every in titles.items()]


def _records(path: Path) -> list[dict[str, Any]]:
    """The file's objects of either form; none where it is something else."""
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            if path.name.endswith(".json"):
                values = json.load(file)
                records = values.get("data") if isinstance(values, dict) else None
                form = "paragraphs"
            else:
                records = [json.loads(line) for line in file if line.strip()]
                form = "questions"
    except (OSError, ValueError, EOFError) as error:
        raise UnreadableFile(path, f"is not JSON ({error})", _REMEDY) from error
    if not isinstance(records, list):
        return []
    right = [one for one in records if isinstance(one, dict) and isinstance(one.get(form), list)]
    return right if len(right) == len(records) else []


def _passages(record: dict[str, Any]) -> Iterator[_Passage]:
    """The passages of an entry of either form."""
    if "paragraphs" not in record:
        questions = (
            SpanQuestion(str(each["question"]), tuple((int(a), int(b)) for a, b in each["answers"]))
            for each in record["questions"]
        )
        yield _checked(str(record["title"]), str(record["text"]), questions)
        return
    for paragraph in record["paragraphs"]:
        yield _checked(
            str(record["title"]), str(paragraph["context"]), map(_question, paragraph["qas"])
        )


def _question(values: dict[str, Any]) -> SpanQuestion:
    """A question of SQuAD's form."""
    answers = [] if values.get("is_impossible") else values["answers"]
    starts = [(int(each["answer_start"]), len(str(each["text"]))) for each in answers]
    return SpanQuestion(str(values["question"]), tuple((at, at + size) for at, size in starts))


def _checked(title: str, text: str, questions: Iterable[SpanQuestion]) -> _Passage:
    every = tuple(questions)
    for question in every:
        if any(not 0 <= start < end <= len(text) for start, end in question.spans):
            raise ValueError(f"an answer of {question.text!r} lies outside of its passage")
    return _Passage(title, text, every)


def _article(title: str, passages: Iterable[_Passage]) -> Article:
    text, questions = "", []
    for passage in passages:
        text += "\n\n" if text else ""
        for one in passage.questions:
            spans = tuple((len(text) + start, len(text) + end) for start, end in one.spans)
            questions.append(SpanQuestion(one.text, spans))
        text += passage.text
    return Article(text_document(text, name=title, title=title), tuple(questions))
