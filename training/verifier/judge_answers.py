"""How fairly the sentences of a language model are marked: of true ones, and of false ones.

    python training/verifier/judge_answers.py written.jsonl --labels labels.jsonl
    python training/verifier/judge_answers.py --made DATA/reading/train.jsonl.gz

The first judges what `write_answers.py` wrote. A sentence is true where its evidence says it: by
`labels` ({"case": ..., "sentence": ..., "true": ...}), where somebody read it, else where it holds
a gold answer and nothing that evidence and question do not have; sentences of which neither is
known are left out. False ones are those, and true ones with a name, number, date, role, negation
or opposite changed. The second judges sentences made by rule: a question with its answer as a
statement, true; changed, or of a near miss with the words that the reader would answer, false.

Articles and meetings are divided into two halves: one to develop on, one only to count.
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from changes import changes, names_in
from claims import statement
from verifier_data import held_titles, passage_group
from write_answers import spans_of

from generator.attribution.citer import Citer
from generator.attribution.verifier import Verifier
from generator.evidence import Embed, Span, evidence_sentences
from generator.reader.reading import Reader
from indexing.encoder.encoder import Encoder
from indexing.text.sentences import sentences
from indexing.text.terms import content_stems

HALVES = ("developed on", "counted")


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence of an answer.

    Attributes:
        case: Which answer it is of.
        kind: Of its question.
        half: One of `HALVES`.
        text: The sentence.
        change: What was changed in it; "" for nothing.
        true: Whether its evidence says it.
        marked: Whether it was marked as unsupported.
    """

    case: int
    kind: str
    half: str
    text: str
    change: str
    true: bool
    marked: bool


class Marker:
    """Marks answers as they are marked when people read them."""

    def __init__(self) -> None:
        self.embed: Embed = Encoder().encode_queries
        self.verifier, self.reader = Verifier(), Reader()

    def marks(self, question: str, spans: Sequence[Span], answer: Sequence[str]) -> list[bool]:
        """Of each sentence of an answer, whether it is unsupported."""
        citer = Citer(
            spans, self.embed, question=question, verifier=self.verifier, reader=self.reader
        )
        for one in answer:
            citer.cite(one)
        return [one.support == "unsupported" for one in citer.sentences]


@click.command()
@click.argument("written", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--labels", type=click.Path(path_type=Path, exists=True))
@click.option("--made", type=click.Path(path_type=Path, exists=True))
@click.option("--most", default=300, show_default=True, help="Made sentences.")
@click.option("--show", type=click.Choice(HALVES), help="Print the wrong marks of a half.")
def main(
    written: Path | None, labels: Path | None, made: Path | None, most: int, show: str | None
) -> None:
    """Print the share of true sentences that are marked, and of false ones."""
    torch.set_num_threads(1)
    marker, rng = Marker(), random.Random(0)
    found: list[Judged] = []
    if written is not None:
        found += judged_answers(marker, _lines(written), _labels(labels), rng)
    if made is not None:
        found += made_sentences(marker, made, rng, most)
    for half in HALVES:
        of = [one for one in found if one.half == half]
        print(f"{half}:")
        for kind in [*sorted({one.kind for one in of}), "all"]:
            print(_figures(kind, [one for one in of if kind in {one.kind, "all"}]))
        for one in of if half == show else ():
            if one.true == one.marked:
                print(f"  {one.case} {one.kind} {'true' if one.true else one.change}: {one.text}")


def _figures(kind: str, of: Sequence[Judged]) -> str:
    true, false = [[one.marked for one in of if one.true == wanted] for wanted in (True, False)]
    by_case: dict[int, list[Judged]] = defaultdict(list)
    for one in of:
        if one.change in {"", "by eye"}:
            by_case[one.case].append(one)
    fair = [all(one.marked != one.true for one in some) for some in by_case.values()]
    changed: dict[str, list[bool]] = defaultdict(list)
    for one in of:
        if not one.true:
            changed[one.change].append(one.marked)
    parts = ", ".join(f"{name} {sum(some)}/{len(some)}" for name, some in sorted(changed.items()))
    return (
        f"  {kind}: of {len(true)} true marked {_share(true)}, of {len(false)} false "
        f"{_share(false)} ({parts}); answers without a wrong mark {_share(fair)} of {len(fair)}"
    )


def _share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f} %" if values else "-"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _labels(path: Path | None) -> dict[tuple[int, int], bool]:
    lines = _lines(path) if path else []
    return {(one["case"], one["sentence"]): one["true"] for one in lines}


def half_of(group: str) -> str:
    """The half of an article or a meeting."""
    return HALVES[zlib.crc32(group.encode()) % 2]


def answer_sentences(case: dict[str, Any]) -> list[str]:
    """The sentences of an answer; without the last, if it was cut off."""
    text = case["answer"].strip()
    found = [text[start:end] for start, end in sentences(text, 0, len(text))]
    return found if not found or found[-1][-1] in ".!?\"'" else found[:-1]


def judged_answers(
    marker: Marker,
    cases: Sequence[dict[str, Any]],
    labels: dict[tuple[int, int], bool],
    rng: random.Random,
) -> Iterator[Judged]:
    """The sentences of answers, and each true one changed in its place."""
    names = [name for case in cases for name in _names(case)]
    for number, case in enumerate(cases):
        answer, spans = answer_sentences(case), list(spans_of(case["evidence"]))
        marks = marker.marks(case["question"], spans, answer)
        known = [_true(case, i, one, labels, number) for i, one in enumerate(answer)]
        half = half_of(case["group"])
        for at, (text, true, marked) in enumerate(zip(answer, known, marks, strict=True)):
            if true is None:
                continue
            change = "" if true else "by eye"
            yield Judged(number, case["kind"], half, text, change, true, marked)
            others = [*_names(case), *rng.sample(names, min(20, len(names)))]
            for one in changes(text, rng, others=others)[:2] if true else ():
                other = [*answer[:at], one.text, *answer[at + 1 :]]
                caught = marker.marks(case["question"], spans, other)[at]
                yield Judged(number, case["kind"], half, one.text, one.kind, False, caught)


def _names(case: dict[str, Any]) -> list[str]:
    texts = [one["text"] for one in case["evidence"]]
    return sorted({text[a:b] for text in texts for a, b in names_in(text)})


def _true(
    case: dict[str, Any], at: int, text: str, labels: dict[tuple[int, int], bool], number: int
) -> bool | None:
    """Whether the evidence says a sentence; None where that is not known."""
    if (number, at) in labels:
        return labels[number, at]
    if case["kind"] != "question":
        return None
    given = " ".join(one["text"] for one in case["evidence"])
    answers = any(gold.lower().strip(" .,") in text.lower() for gold in case["golds"])
    known = {*content_stems(given), *content_stems(case["question"])}
    return True if answers and known.issuperset(content_stems(text)) else None


def made_sentences(marker: Marker, path: Path, rng: random.Random, most: int) -> Iterator[Judged]:
    """Statements of articles that nothing was trained on, true and false ones."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    held = held_titles(records)
    kept = [record for record in records if passage_group(record) in held]
    rng.shuffle(kept)
    number = 0
    for record in kept:
        text, half = record["text"], half_of(" ".join(passage_group(record)))
        spans = list(spans_of([{"title": record["title"], "text": text[:1000]}]))
        names = sorted({text[a:b] for a, b in names_in(text)})
        for asked in record["questions"]:
            question = asked["question"]
            golds = [text[a:b] for a, b in asked["answers"] if b <= 1000]
            if asked["answers"]:
                said = statement(question, golds[0]) if golds else None
            else:
                said = _reader_says(marker.reader, question, spans)
            if said is None:
                continue
            number += 1
            true, kind = bool(golds), "statement" if golds else "near miss"
            marked = marker.marks(question, spans, [said])[0]
            yield Judged(number, kind, half, said, "" if true else "near miss", true, marked)
            for one in changes(said, rng, others=names)[:2] if true else ():
                marked = marker.marks(question, spans, [one.text])[0]
                yield Judged(number, kind, half, one.text, one.kind, False, marked)
            if number >= most:
                return


def _reader_says(reader: Reader, question: str, spans: Sequence[Span]) -> str | None:
    """A near miss with the words that the reader finds likeliest, as a statement."""
    words = [one for one in reader.read(question, evidence_sentences(spans)).words if one]
    if not words:
        return None
    best = max(words, key=lambda one: one.score)
    return statement(question, spans[0].document.text[best.start : best.end])


if __name__ == "__main__":
    main()
