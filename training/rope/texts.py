"""Texts to distil on: meetings, passages and questions, as token rows without padding.

Every row of a batch has the same length, so nothing is padded. Windows of many lengths are cut at
random places of meetings and of packed passages, half of them where a turn or a passage begins;
whole passages, and questions with summaries of meetings, come in rows of their own length.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

LENGTHS = (16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 256, 256)
HELD_MEETINGS = 10
HELD_PASSAGES = 20  # one in so many
CORPUS = 1500  # passages to search
QUICK_MEETINGS, QUICK_PASSAGES = HELD_MEETINGS + 6, 800  # of which a quick run has enough
_START, _END = 101, 102
_SHORTEST, _LONGEST = 6, 256
_MOST = 96  # rows of a batch
_KINDS = {"windows": 0.65, "passages": 0.2, "questions": 0.15}
_MEETINGS = 0.6  # share of windows that are cut from meetings

Ids = list[int]


@dataclass(frozen=True, slots=True)
class Stream:
    """Texts in a row, and where their turns or passages begin."""

    ids: Ids
    starts: list[int]

    @classmethod
    def of(cls, parts: Iterable[Ids]) -> Stream:
        """Puts parts one after the other."""
        ids: Ids = []
        starts = []
        for part in parts:
            starts.append(len(ids))
            ids.extend(part)
        return cls(ids, starts)

    def window(self, length: int, source: random.Random) -> Ids:
        """A window of so many tokens, special tokens included."""
        last = len(self.ids) - (length - 2)
        if source.random() < 0.5:
            at = min(source.choice(self.starts), last)
        else:
            at = source.randint(0, last)
        return [_START, *self.ids[at : at + length - 2], _END]


@dataclass(frozen=True, slots=True)
class Texts:
    """What is trained on, and what is held out.

    Attributes:
        meetings: One stream a meeting.
        passages: All passages, packed.
        whole: Passages by length.
        short: Questions and summaries by length.
        held_meetings: Streams of the meetings that are left out.
        corpus: Passages to search; the first of them are left out of training.
        questions: A question on a passage that was left out, and the passage's place.
    """

    meetings: list[Stream]
    passages: Stream
    whole: dict[int, list[Ids]]
    short: dict[int, list[Ids]]
    held_meetings: list[Stream]
    corpus: list[Ids]
    questions: list[tuple[Ids, int]]

    def batch(self, seed: int, number: int, tokens: int) -> Tensor:
        """The rows (B, T) of a step."""
        source = random.Random(f"{seed} {number}")
        kind = source.choices(list(_KINDS), list(_KINDS.values()))[0]
        if kind == "windows":
            length = source.choice(LENGTHS)
            return self._windows(source, min(_MOST, tokens // length), length)
        rows = self.whole if kind == "passages" else self.short
        sizes = [len(found) * length for length, found in rows.items()]
        length = source.choices(list(rows), sizes)[0]
        found = rows[length]
        return torch.tensor(source.sample(found, min(_MOST, len(found), tokens // length)))

    def windows(self, seed: int, number: int, rows: int, length: int) -> Tensor:
        """Windows (rows, length) that no step is made of."""
        return self._windows(random.Random(f"windows {seed} {number}"), rows, length)

    def _windows(self, source: random.Random, rows: int, length: int) -> Tensor:
        sizes = [len(meeting.ids) for meeting in self.meetings]
        found = []
        for _ in range(rows):
            meeting = source.random() < _MEETINGS
            stream = source.choices(self.meetings, sizes)[0] if meeting else self.passages
            found.append(stream.window(length, source))
        return torch.tensor(found)


def read_texts(data: Path, model: Path, *, quick: bool = False) -> Texts:
    """Reads and tokenises all of it, some ten seconds, or the beginnings of the files."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    meetings, summaries = _meetings(
        data / "qmsum" / "train.jsonl", tokenizer, QUICK_MEETINGS if quick else None
    )
    passages = QUICK_PASSAGES if quick else None
    kept, held = _passages(data / "reading" / "train.jsonl.gz", tokenizer, passages)
    source = random.Random(0)
    others = source.sample([ids for ids, _ in kept], min(len(kept), CORPUS - len(held)))
    asked = [ids for _, questions in kept for ids in questions]
    return Texts(
        meetings=meetings[HELD_MEETINGS:],
        passages=Stream.of(ids for ids, _ in kept),
        whole=_by_length([ids for ids, _ in kept]),
        short=_by_length([*asked, *(one for each in summaries[HELD_MEETINGS:] for one in each)]),
        held_meetings=meetings[:HELD_MEETINGS],
        corpus=[_framed(ids) for ids in [*(ids for ids, _ in held), *others]],
        questions=[(_framed(ids), at) for at, (_, asked) in enumerate(held) for ids in asked],
    )


def _meetings(
    path: Path,
    tokenizer: Any,  # noqa: ANN401
    most: int | None,
) -> tuple[list[Stream], list[list[Ids]]]:
    """Meetings in an order that has nothing to do with the file's, and what was asked of them."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()[:most]]
    lines.sort(key=lambda one: _digest(str(one["id"])))
    streams, asked = [], []
    for one in lines:
        turns = [f"{turn['speaker']}: {turn['content']}" for turn in one["meeting_transcripts"]]
        streams.append(Stream.of(_ids(tokenizer, turns)))
        queries = [*one["general_query_list"], *one["specific_query_list"]]
        asked.append(
            _ids(tokenizer, [each[key] for each in queries for key in ("query", "answer")])
        )
    return streams, asked


def _passages(
    path: Path,
    tokenizer: Any,  # noqa: ANN401
    most: int | None,
) -> tuple[list[tuple[Ids, list[Ids]]], list[tuple[Ids, list[Ids]]]]:
    """Passages with their questions: those to train on, and those left out."""
    kept, held = [], []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for one in map(json.loads, islice(file, most)):
            questions = [each["question"] for each in one["questions"]]
            pair = (_ids(tokenizer, [one["text"]])[0], _ids(tokenizer, questions))
            left_out = int(_digest(one["text"]), 16) % HELD_PASSAGES == 0
            (held if left_out else kept).append(pair)
    return kept, held


def _ids(tokenizer: Any, texts: Sequence[str]) -> list[Ids]:  # noqa: ANN401
    found = tokenizer(list(texts), add_special_tokens=False, verbose=False) if texts else None
    return list(found["input_ids"]) if found else []


def _framed(ids: Ids) -> Ids:
    return [_START, *ids[: _LONGEST - 2], _END]


def _by_length(rows: Iterable[Ids]) -> dict[int, list[Ids]]:
    """Rows with special tokens, cut to the window, by length; only lengths with two or more."""
    found = defaultdict(list)
    for ids in rows:
        row = _framed(ids)
        if len(row) >= _SHORTEST:
            found[len(row)].append(row)
    return {length: same for length, same in sorted(found.items()) if len(same) > 1}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
