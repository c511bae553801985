"""Questions in other words than their texts': on everyday papers, and on what is said in meetings.

`everyday.jsonl.gz` has texts that were written for this project, in sets of four that know the same
people and matters, with their questions. `speech.jsonl.gz` has questions on turns of QMSum's
meetings, without the words of these. Both were written by larger language models (STATE.md). They
become passages as the product reads them: rows with their columns' names, words without labels.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reader_data import (
    LONGEST,
    QUESTION,
    WINDOW,
    Data,
    Meetings,
    Passage,
    Query,
    Question,
    question_of,
)

from generator.evidence import Sentence, Span, evidence_sentences
from indexing.documents import Document
from indexing.text import transcripts
from rag_app.batch.qmsum import Meeting, meetings

HERE = Path(__file__).parent
SETS, SPEECH = HERE / "everyday.jsonl.gz", HERE / "speech.jsonl.gz"

Asked = tuple[Passage, Sequence[Question]]
"""A passage with its questions."""

_HELD = 9  # one set of so many is kept for judging


def join(data: Data, shown: Meetings, qmsum: Path, tokenizer: Any) -> tuple[Data, Meetings]:  # noqa: ANN401
    """Questions on passages and on meetings with those of both files behind them.

    Args:
        data: Questions on passages.
        shown: Questions on meetings; a set of texts becomes one more meeting.
        qmsum: The meetings' file.
        tokenizer: The reader's.
    """
    passages, train, held = list(data.passages), list(data.train), list(data.held)
    windows, queries = list(shown.windows), list(shown.train)
    sets: dict[str, list[Asked]] = defaultdict(list)
    for record in records(SETS):
        passage = passage_of(record["source"], record["title"], span_of(record), tokenizer)
        asked = list(asked_of(record["questions"], passage, len(passages), tokenizer))
        (held if kept(record["title"]) else train).extend(asked)
        sets[record["title"]].append((passage, asked))
        passages.append(passage)
    for title, members in sets.items():
        own = [each for passage, _ in members for each in in_windows(passage)]
        if not kept(title):
            queries += queries_of(members, own, len(windows))
        windows.append(own)
    every = list(meetings(qmsum))
    for record in records(SPEECH):
        number = record["meeting"]
        passage = passage_of("speech", str(number), turns_of(every[number], record), tokenizer)
        asked = list(asked_of(record["questions"], passage, len(passages), tokenizer))
        left_out = kept(f"{number} {record['first']}")
        (held if left_out else train).extend(asked)
        if not left_out:
            queries += queries_of([(passage, asked)], shown.windows[number], number)
        passages.append(passage)
    return (
        replace(data, passages=passages, train=train, held=held),
        replace(shown, windows=windows, train=queries),
    )


def kept(name: str) -> bool:
    """Whether a set, or a stretch of a meeting, is kept for judging."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % _HELD == 0


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Each line of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def span_of(record: dict[str, Any]) -> Span:
    """A whole text as a span of a document of its own."""
    text = record["text"]
    utterances = transcripts.find_utterances(text)
    document = Document("", "", "", record["title"], "text", "", text, utterances)
    return Span(document, 0, len(text), 0.0)


def turns_of(meeting: Meeting, record: dict[str, Any]) -> Span:
    """The turns of a meeting that a record names."""
    said = meeting.document.utterances
    start, end = said[record["first"]].start, said[record["last"]].end
    return Span(meeting.document, start, end, 0.0)


def passage_of(source: str, title: str, span: Span, tokenizer: Any) -> Passage:  # noqa: ANN401
    """Its sentences as the reader is given them."""
    ids, places, labels = [], [], []
    before: Sentence | None = None
    for one in evidence_sentences([span]):
        encoded = tokenizer(
            one.read, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        if not encoded["input_ids"]:
            continue
        told = before is not None and before.utterance == one.utterance
        label = f"{one.speaker}:" if one.speaker and not told else ""
        ids.append(encoded["input_ids"][:LONGEST])
        places.append(one.places(encoded["offset_mapping"][:LONGEST]))
        labels.append(tokenizer(label, add_special_tokens=False)["input_ids"])
        before = one
    return Passage(source, title, span.document.text, tuple(ids), tuple(places), tuple(labels))


def asked_of(
    asked: Sequence[dict[str, Any]],
    passage: Passage,
    number: int,
    tokenizer: Any,  # noqa: ANN401
) -> Iterator[Question]:
    """The questions of a passage, without those whose answers lie on no token."""
    for each in asked:
        ids = tokenizer(each["question"], add_special_tokens=False)["input_ids"][:QUESTION]
        question = question_of(each, ids, passage, number)
        if question is not None:
            yield question


def in_windows(passage: Passage) -> Iterator[Passage]:
    """A passage in parts of so many tokens as a window of a meeting has."""
    first, size = 0, 0
    sizes = [len(a) + len(b) for a, b in zip(passage.ids, passage.labels, strict=True)]
    for i, each in enumerate([*sizes, WINDOW + 1]):
        if i > first and size + each > WINDOW:
            part = slice(first, i)
            yield replace(
                passage,
                ids=passage.ids[part],
                spans=passage.spans[part],
                labels=passage.labels[part],
            )
            first, size = i, 0
        size += each


def queries_of(
    members: Sequence[Asked], windows: Sequence[Passage], meeting: int
) -> Iterator[Query]:
    """Questions with an answer, as queries on the windows of their set or meeting."""
    for passage, questions in members:
        for question in questions:
            if question.answers:
                places = [
                    (passage.spans[i][a][0], passage.spans[j][b][1])
                    for (i, a), (j, b) in question.answers
                ]
                marked = [
                    [
                        (window.source == "qmsum" or window.text is passage.text)
                        and any(spans[0][0] < end and spans[-1][1] > start for start, end in places)
                        for spans in window.spans
                    ]
                    for window in windows
                ]
                if any(map(any, marked)):
                    yield Query(question.text, question.ids, meeting, [], marked)
