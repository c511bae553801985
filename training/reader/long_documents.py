"""Long documents with questions, made of the reading data and of QMSum, to fit and to judge on.

Passages of one article become a document again; reviews and comments, which stand alone, are put
together at random. Questions are those of articles, reviews and meetings that the reader was not
trained on (`reader_data`), each with the spans that answer it; near misses have none.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reader_data import MEETINGS, article, held_out

from rag_app.batch.qmsum import meetings
from rag_app.corpus.corpus import Corpus

ARTICLES = ("squadshifts-new_wiki", "squad2-half")  # whose titles are those of documents
TOGETHER = 25  # other passages in a document
QUESTIONS = {
    "squad2-half": 485,
    "squadshifts-new_wiki": 120,
    "nq-open": 129,
    "squadshifts-amazon_reviews": 60,
    "squadshifts-reddit": 60,
    "qmsum": 140,
}
"""How many questions of each source are asked, at most; all are held out."""


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """A question asked of documents.

    Attributes:
        text: The question.
        document: Title of the document that it was asked of.
        golds: First and last + 1 character of what answers it; none for a near miss.
        words: Whether these are the words that answer, not the utterances that hold the answer.
    """

    text: str
    document: str
    golds: tuple[tuple[int, int], ...]
    words: bool


def build(
    data: Path, qmsum: Path, folder: Path, *, training: bool = False
) -> dict[str, list[LongQuestion]]:
    """Make a corpus for each source, `FOLDER/SOURCE.corpus`, and its questions.

    Args:
        data: Questions on passages.
        qmsum: Meetings with questions.
        folder: Where the corpora go.
        training: All questions that are not held out, instead of some that are.
    """
    with gzip.open(data, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    held = held_out(records)
    found: dict[str, list[LongQuestion]] = {"qmsum": list(_of_meetings(qmsum, training))}
    for source in sorted({record["source"] for record in records}):
        own = [record for record in records if record["source"] == source]
        files = folder / source
        files.mkdir(parents=True, exist_ok=True)
        found[source] = []
        for title, passages in _documents(source, own):
            asked = [one for one in passages if (article(one) in held) != training]
            text, questions = _joined(title, passages, asked)
            (files / f"{title}.txt").write_text(text, encoding="utf-8")
            found[source] += questions
    for source, questions in found.items():
        with Corpus(folder / f"{source}.corpus") as corpus:
            corpus.add([qmsum if source == "qmsum" else folder / source])
        random.Random(source).shuffle(questions)
        found[source] = questions if training else questions[: QUESTIONS[source]]
    return found


def _documents(
    source: str, records: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Passages by document, with a title that is a file's name."""
    if source in ARTICLES:
        titles: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in records:
            titles[record["title"]].append(record)
        for title, passages in titles.items():
            yield "".join(c if c.isalnum() or c in "._-" else "_" for c in title), passages
        return
    order = random.Random(source).sample(records, len(records))
    for number, start in enumerate(range(0, len(order), TOGETHER), start=1):
        yield f"{source}-{number}", order[start : start + TOGETHER]


def _joined(
    title: str, passages: Iterable[dict[str, Any]], asked: Sequence[dict[str, Any]]
) -> tuple[str, list[LongQuestion]]:
    """The text of a document, and the questions of some of its passages."""
    text, questions = "", []
    for passage in passages:
        text += "\n\n" if text else ""
        for each in passage["questions"] if passage in asked else ():
            golds = tuple((len(text) + start, len(text) + end) for start, end in each["answers"])
            questions.append(LongQuestion(each["question"], title, golds, words=True))
        text += passage["text"]
    return text, questions


def _of_meetings(path: Path, training: bool) -> Iterator[LongQuestion]:
    for number, meeting in enumerate(meetings(path)):
        if (number % MEETINGS == MEETINGS - 1) == training:
            continue
        for question in meeting.specific:
            turns = [meeting.document.utterances[each] for each in question.utterances]
            if turns:
                golds = tuple((turn.start, turn.end) for turn in turns)
                yield LongQuestion(question.text, meeting.document.title, golds, words=False)
