"""Questions and the stretches that a reader is trained on.

Two kinds of data. Questions on passages (`train.jsonl.gz`: SQuADShifts, Miller et al. 2020, arXiv
2004.14444; SQuAD 2.0, Rajpurkar et al. 2018, arXiv 1806.03822; NQ-open, Kwiatkowski et al. 2019)
have answers in characters. QMSum's questions (Zhong et al., NAACL 2021) have marked turns. Both
become passages of sentences in token ids, from which examples are put together anew in every pass:
crops around the answer, and four kinds of questions without an answer (a near miss by a person,
another passage, a changed question, the answer's sentence left out).
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexing.text.sentences import sentences
from rag_app.batch.qmsum import Meeting, meetings

LONGEST = 190  # tokens of a stretch
QUESTION = 48  # tokens
WINDOW = 170  # tokens of a stretch of a meeting
HELD_OUT = 0.06  # share of each source's passages that is kept for judging
MEETINGS = 5  # every so many meetings, one is kept for judging

_OTHERS = 30  # nearest passages that are looked at for another one
_MEETING_OTHERS = 40  # best windows of a meeting that are remembered

Place = tuple[int, int]
"""A sentence's number in its passage, and a token's number in that sentence."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in sentences.

    Attributes:
        source: Name of the data set.
        title: Of the article; passages of one title are never trained and judged on.
        text: All of it.
        ids: Token ids of each sentence.
        spans: First character and one past the last, of each token of each sentence.
        labels: Token ids of the speaker's label that is read before each sentence; mostly empty.
    """

    source: str
    title: str
    text: str
    ids: tuple[list[int], ...]
    spans: tuple[list[tuple[int, int]], ...]
    labels: tuple[list[int], ...]

    @property
    def size(self) -> int:
        """Tokens of all sentences and labels."""
        return sum(len(each) for each in (*self.ids, *self.labels))


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a passage.

    Attributes:
        text: The question.
        ids: Its token ids.
        passage: Number of its passage.
        answers: First and last token of each answer; none where the passage does not say.
        words: The answers' words, in lower case.
    """

    text: str
    ids: list[int]
    passage: int
    answers: tuple[tuple[Place, Place], ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question on a meeting.

    Attributes:
        text: The question.
        ids: Its token ids.
        meeting: Number of the meeting.
        windows: Numbers of the meeting's windows, nearest first.
        marked: Of each of the meeting's windows, whether each sentence is in a marked turn.
    """

    text: str
    ids: list[int]
    meeting: int
    windows: list[int]
    marked: list[list[bool]]


@dataclass(slots=True)
class Example:
    """A question beside a stretch, as the reader gets it.

    Attributes:
        ids: Token ids with the special tokens.
        first: Number of the stretch's first token.
        places: First and last + 1 token of each sentence.
        answers: First and last token of each answer; none where the stretch does not say.
        relevant: Of each sentence whether it answers; None where that is not known.
        spans: Characters of each token from `first` on, for judging.
        question: The question it comes from, for judging.
        kind: What kind of example it is.
    """

    ids: list[int]
    first: int
    places: list[tuple[int, int]]
    answers: list[tuple[int, int]]
    relevant: list[bool] | None
    kind: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    question: Any = None


@dataclass(frozen=True, slots=True)
class Data:
    """All questions on passages.

    Attributes:
        passages: The passages.
        train: Questions to train on.
        held: Questions to judge on.
        cls: Token that opens an input.
        sep: Token that ends each of its two parts.
    """

    passages: list[Passage]
    train: list[Question]
    held: list[Question]
    cls: int
    sep: int


@dataclass(frozen=True, slots=True)
class Meetings:
    """All questions on meetings; `windows` are those of each meeting."""

    windows: list[list[Passage]]
    train: list[Query]
    held: list[Query]


# --- reading --------------------------------------------------------------------------------------


def load_passages(path: Path, tokenizer: Any) -> Data:  # noqa: ANN401
    """Read `train.jsonl.gz`; about six of a hundred passages of a source are kept for judging."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    kept = held_out(records)
    passages: list[Passage] = []
    parts: dict[bool, list[Question]] = {True: [], False: []}
    for record in records:
        passage = _passage(record, tokenizer)
        asked = [each["question"] for each in record["questions"]]
        encoded = tokenizer(asked, add_special_tokens=False, truncation=True, max_length=QUESTION)
        for each, ids in zip(record["questions"], encoded["input_ids"], strict=True):
            question = question_of(each, ids, passage, len(passages))
            if question is not None:
                parts[article(record) in kept].append(question)
        passages.append(passage)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    return Data(passages, parts[False], parts[True], cls, sep)


def article(record: dict[str, Any]) -> tuple[str, str]:
    """What is never divided: an article, or the passage where all have the same title (Reddit)."""
    same = record["source"] == "squadshifts-reddit"
    return record["source"], record["text"][:80] if same else record["title"]


def held_out(records: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """Groups kept for judging; of SQuAD 2.0 twice as many, because its articles are few."""
    sizes: dict[tuple[str, str], int] = {}
    for record in records:
        sizes[article(record)] = sizes.get(article(record), 0) + 1
    kept: set[tuple[str, str]] = set()
    for source in sorted({source for source, _ in sizes}):
        groups = sorted(group for group in sizes if group[0] == source)
        random.Random(source).shuffle(groups)
        share = 2 * HELD_OUT if source == "squad2-half" else HELD_OUT
        wanted = share * sum(sizes[group] for group in groups)
        while wanted > 0:
            kept.add(groups[0])
            wanted -= sizes[groups.pop(0)]
    return kept


def _passage(record: dict[str, Any], tokenizer: Any) -> Passage:  # noqa: ANN401
    text = record["text"]
    ids, spans = _encoded(text, sentences(text, 0, len(text)), tokenizer)
    return Passage(record["source"], record["title"], text, ids, spans, tuple([] for _ in ids))


def _encoded(
    text: str,
    places: Sequence[tuple[int, int]],
    tokenizer: Any,  # noqa: ANN401
) -> tuple[tuple[list[int], ...], tuple[list[tuple[int, int]], ...]]:
    """Token ids and characters of sentences, long ones in parts."""
    ids: list[list[int]] = []
    spans: list[list[tuple[int, int]]] = []
    encoded = tokenizer(
        [text[start:end] for start, end in places] or [""],
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    rows = zip(places, encoded["input_ids"], encoded["offset_mapping"], strict=False)
    for (start, _), tokens, offsets in rows:
        for at in range(0, len(tokens), LONGEST):
            ids.append(tokens[at : at + LONGEST])
            spans.append([(start + a, start + b) for a, b in offsets[at : at + LONGEST]])
    return tuple(ids), tuple(spans)


def question_of(
    record: dict[str, Any], ids: list[int], passage: Passage, number: int
) -> Question | None:
    """A record's question; None where answers are given but none lies on tokens."""
    pairs = sorted({(start, end) for start, end in record["answers"]})
    places = [_placed(passage, start, end) for start, end in pairs]
    answers = tuple(dict.fromkeys(place for place in places if place is not None))
    if pairs and not answers:
        return None
    words = tuple(dict.fromkeys(passage.text[start:end].lower().strip() for start, end in pairs))
    return Question(record["question"], ids, number, answers, words)


def _placed(passage: Passage, start: int, end: int) -> tuple[Place, Place] | None:
    """First and last token of some characters."""
    inside = [
        (sentence, token)
        for sentence, spans in enumerate(passage.spans)
        for token, (a, b) in enumerate(spans)
        if a < end and b > start
    ]
    return (inside[0], inside[-1]) if inside else None


def load_meetings(path: Path, tokenizer: Any) -> Meetings:  # noqa: ANN401
    """Read QMSum; every fifth meeting is kept for judging (`order_windows` sorts the windows)."""
    windows: list[list[Passage]] = []
    parts: dict[bool, list[Query]] = {True: [], False: []}
    for number, meeting in enumerate(meetings(path)):
        shown = list(_windows(meeting, tokenizer))
        windows.append([window for window, _ in shown])
        for question in meeting.specific:
            if question.utterances:
                turns = set(question.utterances)
                marked = [[turn in turns for turn in each] for _, each in shown]
                ids = tokenizer(question.text, add_special_tokens=False)["input_ids"][:QUESTION]
                query = Query(question.text, ids, number, [], marked)
                parts[number % MEETINGS == MEETINGS - 1].append(query)
    return Meetings(windows, parts[False], parts[True])


def _windows(meeting: Meeting, tokenizer: Any) -> Iterator[tuple[Passage, list[int]]]:  # noqa: ANN401
    """Windows of a meeting with the turn of each sentence; each begins with a speaker's label."""
    text = meeting.document.text
    held: list[tuple[list[int], list[tuple[int, int]], list[int], int]] = []
    size = 0
    for number, turn in enumerate(meeting.document.utterances):
        ids, spans = _encoded(text, sentences(text, turn.text_start, turn.end), tokenizer)
        label = tokenizer(f"{turn.speaker or ''}:", add_special_tokens=False)["input_ids"]
        for tokens, places in zip(ids, spans, strict=True):
            if held and size + len(tokens) + len(label) > WINDOW:
                yield _window(meeting, held)
                held, size = [], 0
            shown = [] if held and held[-1][3] == number else label
            held.append((tokens, places, shown, number))
            size += len(tokens) + len(shown)
    if held:
        yield _window(meeting, held)


def _window(
    meeting: Meeting, held: Sequence[tuple[list[int], list[tuple[int, int]], list[int], int]]
) -> tuple[Passage, list[int]]:
    ids, spans, labels, turns = zip(*held, strict=True)
    text = meeting.document.text[spans[0][0][0] : spans[-1][-1][1]]
    passage = Passage("qmsum", meeting.document.title, text, ids, spans, labels)
    return passage, list(turns)
