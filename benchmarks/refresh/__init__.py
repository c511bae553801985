"""Answers that stay fresh: made documents are edited; verdicts on quotes, what is asked again.

All questions are also asked anew of the edited documents, by a batch of their own: what should have
been asked again is known by that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import click

from benchmarks.refresh.edited import Made, as_held, changing, edited, made_documents, true_standing
from generator.evidence import Span, evidence_sentences
from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.files import FileReader
from rag_app.batch.answer_file import read_answers
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.refresh import Change
from rag_app.batch.run import run
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.progress import bar
from rag_app.proof.standing import Standing, around, look_up

Json = dict[str, Any]
Edited = Sequence[tuple[Made, Made | None]]
"""Each document before and after; None where it is removed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured.

    Attributes:
        documents: Before the edits.
        edited: Of them, edited or removed.
        added: After the edits.
        questions: Asked before and after.
        verdicts: How many quotes of answers are of which true standing.
        wrong: Of them with another verdict of the refresh.
        elsewhere: Of all quotes gone with their file, which has another name and another text.
        words: Answers whose words are others when they are asked anew.
        places: Further ones whose quotes stand in other places.
        again: Questions that the refresh asked again.
        missed: Of `words` and `places` those that it did not.
    """

    documents: int
    edited: int
    added: int
    questions: int
    verdicts: dict[Standing, int]
    wrong: int
    elsewhere: int
    words: int
    places: int
    again: int
    missed: tuple[str, ...]


def sentence_verdicts(count: int, seed: int) -> Iterator[tuple[Standing, Standing, str]]:
    """Of each sentence of so many edited documents what became of it, and what is said of it."""
    with FileReader() as reader, TemporaryDirectory() as folder:

        def read(made: Made) -> Document:
            file = Path(folder) / made.name
            file.write_text(made.text, "utf-8")
            return next(one for one in reader.read(file) if isinstance(one, Document))

        for before, after in _edits(made_documents(count, seed), seed, 1.0):
            old, new = read(before), read(after) if after else None
            for one in evidence_sentences([Span(old, 0, len(old.text), 0.0)])[1:]:
                quote = {
                    "start": one.start,
                    "end": one.end,
                    "quote": one.text,
                    "time_seconds": None,
                    "page": None,
                    **around(old, one.start, one.end),
                }
                verdict = look_up(quote, new).standing
                yield true_standing(quote, before, after), verdict, one.text


def measure(count: int, asked: int, share: float, seed: int, encoder: Encoder) -> Outcome:
    """Ask, edit, ask what a refresh asks again, and ask everything anew."""
    draw = Random(f"questions {seed}")
    documents = made_documents(count, seed)
    facts = draw.sample([fact for one in documents for fact in one.facts], asked)
    questions = [Question(str(number), one.question) for number, one in enumerate(facts)]
    both = _edits(documents, seed, share)
    later = [changing(one, draw) for one in draw.sample(documents, max(1, count // 20))]
    with TemporaryDirectory() as name, Corpus(Path(name) / "corpus", encoder=encoder) as corpus:
        files, out, anew = (Path(name) / each for each in ("files", "a.jsonl", "b.jsonl"))
        _write(files, documents)
        corpus.add([files])
        _run(corpus, questions, out, BatchOptions())
        first = read_answers(out)
        _write(files, [*(after for _, after in both if after), *later])
        corpus.add([files])
        if gone := [one.id for one in corpus.missing()]:
            corpus.remove(gone)
        done = _run(corpus, questions, out, BatchOptions(changed="refresh"))
        _run(corpus, questions, anew, BatchOptions())
        again = {one.id: one.before["citations"] for one in done}
        standings = list(_standings(first, again, both))
        differ = [_differ(*each) for each in zip(first, read_answers(anew), strict=True)]
    needed = [one for one, how in zip(questions, differ, strict=True) if how]
    return Outcome(
        documents=count,
        edited=sum(before is not after for before, after in both),
        added=len(later),
        questions=asked,
        verdicts=dict(Counter(true for true, _, _ in standings)),
        wrong=sum(true != said for true, said, _ in standings),
        elsewhere=sum(elsewhere for _, _, elsewhere in standings),
        words=differ.count("words"),
        places=differ.count("places"),
        again=len(again),
        missed=tuple(one.text for one in needed if one.id not in again),
    )


def _edits(documents: Sequence[Made], seed: int, share: float) -> Edited:
    draw = Random(f"edits {seed}")
    return [(one, edited(one, draw) if draw.random() < share else one) for one in documents]


def _write(folder: Path, documents: Sequence[Made]) -> None:
    """Exactly these documents into a folder."""
    folder.mkdir(exist_ok=True)
    for file in {one.name for one in folder.iterdir()} - {one.name for one in documents}:
        (folder / file).unlink()
    for one in documents:
        (folder / one.name).write_text(one.text, "utf-8")


def _run(
    corpus: Corpus, questions: Sequence[Question], out: Path, options: BatchOptions
) -> tuple[Change, ...]:
    with bar("Asking") as advance:
        summary = run(
            corpus,
            questions,
            out,
            options=options,
            progress=lambda step: advance(step.done, step.total, ""),
        )
    return summary.changes


def _standings(
    first: Sequence[Json], again: Mapping[str, Sequence[Json]], both: Edited
) -> Iterator[tuple[Standing, Standing, bool]]:
    """Of each quote what became of it, what the refresh said, and whether it left with its file.

    Args:
        first: Answers before the edits.
        again: Former quotes of those asked again, by id; all quotes of others are the same.
        both: The documents.
    """
    by_name = {before.name: (before, after) for before, after in both}
    for answer in first:
        looked_up = again.get(answer["id"])
        for at, quote in enumerate(answer["citations"]):
            before, after = by_name[Path(quote["path"]).name]
            held = as_held(before, after)
            said: Standing = looked_up[at]["now"]["standing"] if looked_up else "same"
            yield true_standing(quote, before, held), said, held is not after


def _differ(before: Json, after: Json) -> str:
    """Whether two answers differ in words, or in places only; else ""."""
    quotes = [[one["quote"] for one in each["citations"]] for each in (before, after)]
    if before["answer"] != after["answer"] or quotes[0] != quotes[1]:
        return "words"
    spans = [
        [(one["document"], one["start"]) for one in each["citations"]] for each in (before, after)
    ]
    return "places" if spans[0] != spans[1] else ""


@click.command()
@click.option("--documents", "count", type=click.IntRange(1, 200), default=200, show_default=True)
@click.option("--questions", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--share", type=click.FloatRange(0, 1), default=0.2, show_default=True,
              help="Of the documents that are edited.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True)
@with_json
def command(count: int, questions: int, share: float, seed: int, as_json: bool) -> None:
    """Verdicts on quotes after seeded edits, and how many questions a refresh asks again."""
    found = [(true, said) for true, said, _ in sentence_verdicts(count, seed)]
    done = measure(count, questions, share, seed, Encoder())
    wrong = sum(true != said for true, said in found)

    def show() -> None:
        click.echo(
            f"{len(found)} sentences of {count} documents, all edited: {wrong} verdicts wrong"
        )
        click.echo(json.dumps(Counter(true for true, _ in found)))
        click.echo(json.dumps(asdict(done), indent=2))

    values = {"sentences": len(found), "sentences wrong": wrong, **asdict(done)}
    print_result(as_json, values, show)
