"""Questions as people ask them: on the texts of `everyday.jsonl.gz`, on German sets, on meetings.

`natural.jsonl.gz` has questions on the everyday texts by their numbers, `german.jsonl.gz` German
and `workplaces.jsonl.gz` English texts in sets of four with questions, `speech_asked.jsonl.gz`
questions on stretches of QMSum's meetings. All were written by larger language models (STATE.md),
with near misses in the same tone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from everyday import (
    SETS,
    Asked,
    asked_of,
    in_windows,
    kept,
    passage_of,
    queries_of,
    records,
    span_of,
    turns_of,
)
from reader_data import Data, Meetings, Passage, Question

from rag_app.batch.qmsum import meetings

HERE = Path(__file__).parent
ASKED, GERMAN, WORKPLACES, SPEECH = (
    HERE / f"{name}.jsonl.gz" for name in ("natural", "german", "workplaces", "speech_asked")
)


class _Joined:
    """What was there, with more passages, questions and queries behind it."""

    def __init__(self, data: Data, shown: Meetings) -> None:
        self._data, self._shown = data, shown
        self.passages, self.train, self.held = [*data.passages], [*data.train], [*data.held]
        self.windows, self.queries = [*shown.windows], [*shown.train]

    def add(self, passage: Passage, questions: list[Question], *, held: bool) -> None:
        (self.held if held else self.train).extend(questions)
        self.passages.append(passage)

    def add_sets(self, sets: dict[str, list[Asked]]) -> None:
        """Each set of texts as a meeting, its windows those of its texts."""
        for title, members in sets.items():
            own = [each for passage, _ in members for each in in_windows(passage)]
            if not kept(title):
                self.queries += queries_of(members, own, len(self.windows))
            self.windows.append(own)

    @property
    def all(self) -> tuple[Data, Meetings]:
        return (
            replace(self._data, passages=self.passages, train=self.train, held=self.held),
            replace(self._shown, windows=self.windows, train=self.queries),
        )


def join_natural(data: Data, shown: Meetings, qmsum: Path, tokenizer: Any) -> tuple[Data, Meetings]:  # noqa: ANN401
    """Questions on passages and on meetings with those of the four files behind them.

    Arguments as of `everyday.join`.
    """
    joined = _Joined(data, shown)
    texts = list(records(SETS))
    by_text: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for record in records(ASKED):
        by_text[record["text"]].append(record)
    whole = [
        {**texts[number], "questions": questions, "source": _named(texts[number]["source"])}
        for number, questions in sorted(by_text.items())
    ]
    for part in (whole, records(GERMAN), records(WORKPLACES)):
        joined.add_sets(_sets(joined, part, tokenizer))
    every = list(meetings(qmsum))
    for record in records(SPEECH):
        number = record["meeting"]
        span = turns_of(every[number], record)
        passage = passage_of("natural-speech", str(number), span, tokenizer)
        asked = list(asked_of(record["questions"], passage, len(joined.passages), tokenizer))
        held = kept(f"{number} {record['first']}")
        if not held:
            joined.queries += queries_of([(passage, asked)], shown.windows[number], number)
        joined.add(passage, asked, held=held)
    return joined.all


def _named(source: str) -> str:
    return source.replace("everyday", "natural")


def _sets(
    joined: _Joined,
    part: Iterable[dict[str, Any]],
    tokenizer: Any,  # noqa: ANN401
) -> dict[str, list[Asked]]:
    sets: dict[str, list[Asked]] = defaultdict(list)
    for record in part:
        title = record["title"]
        passage = passage_of(record["source"], title, span_of(record), tokenizer)
        asked = list(asked_of(record["questions"], passage, len(joined.passages), tokenizer))
        joined.add(passage, asked, held=kept(title))
        sets[title].append((passage, asked))
    return sets
