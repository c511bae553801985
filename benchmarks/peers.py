"""Indexing and searching the same documents here and by the libraries that people take instead.

Each library indexes in a process, and searches in another, which starts from what it has saved. All
take turns, with the same encoder; processor time is counted, so that other programs disturb little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from benchmarks.checkouts import ROOT, SAMPLES, Run, ended, sample_files
from indexing.documents import Document
from indexing.files import FileReader
from indexing.models.files import encoder_weights
from indexing.text.chunking import split
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

PROGRAMS = {
    "rag-app": ("own", "rag_app"),
    "sentence-transformers": ("sentence_transformers", "sentence_transformers"),
    "LangChain, FAISS": ("langchain", "langchain_community"),
    "txtai, hybrid": ("txtai", "txtai"),
    "bm25s (no vectors)": ("bm25s", "bm25s"),
}
"""By name: the module in `benchmarks/programs`, and the library that it needs."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the names of the files that answer it."""

    text: str
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Peer:
    """What one library took; the best of the rounds.

    Attributes:
        name: Of the library.
        index: CPU seconds, from start to end.
        index_megabytes: Most memory meanwhile.
        first: CPU seconds from start to the end of a process that searches once.
        first_megabytes: Most memory meanwhile.
        further: CPU milliseconds of a search after the first, median.
        right: Share of the questions whose first document is right.
    """

    name: str
    index: float
    index_megabytes: float
    first: float
    first_megabytes: float
    further: float
    right: float


@click.command()
@click.option("--rounds", default=3, show_default=True, help="In turn; the best counts.")
@with_json
def command(rounds: int, as_json: bool) -> None:
    """CPU time and memory of indexing and searching, beside other libraries where installed."""
    names = [name for name, (_, library) in PROGRAMS.items() if find_spec(library)]
    for name in PROGRAMS.keys() - names:
        click.echo(f"left out, not installed: {name}", err=True)
    peers = measure(names, sample_files(), questions(), rounds)
    print_result(
        as_json,
        {"task": "peers", "peers": [asdict(each) for each in peers]},
        lambda: click.echo(text(peers)),
    )


def questions() -> list[Question]:
    """The sample questions that have an answer."""
    lines = (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
    return [
        Question(each["question"], frozenset(one["path"] for one in each["evidence"]))
        for each in map(json.loads, lines)
        if each["answerable"]
    ]


def measure(
    names: Sequence[str], files: Sequence[Path], asked: Sequence[Question], rounds: int
) -> list[Peer]:
    """Run each program, in turn."""
    texts = [*_passages(files)]
    indexed: dict[str, list[Run]] = {name: [] for name in names}
    first: dict[str, list[Run]] = {name: [] for name in names}
    found: dict[str, list[tuple[float, list[str]]]] = {}
    with track([(turn, name) for turn in range(rounds) for name in names], doing="Asking") as steps:
        for turn, name in steps:
            with TemporaryDirectory() as folder:
                _write_job(Path(folder), name, files, texts)
                indexed[name].append(_run(name, "index", folder)[0])
                first[name].append(_run(name, "search", folder, asked[:1])[0])
                if not turn:
                    found[name] = _run(name, "search", folder, asked)[1]
    return [_peer(name, indexed[name], first[name], found[name], asked) for name in names]


def _passages(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    with FileReader() as reader:
        for document in (one for file in files for one in reader.read(file)):
            if isinstance(document, Document):
                for each in split(document):
                    yield document.path, document.text[each.start : each.end]


def _write_job(
    folder: Path, name: str, files: Sequence[Path], texts: Sequence[tuple[str, str]]
) -> None:
    job = {
        "name": PROGRAMS[name][0],
        "encoder": str(encoder_weights().folder),
        "files": [str(file) for file in files],
        "texts": texts,
    }
    (folder / "job.json").write_text(json.dumps(job), "utf-8")


def _run(
    name: str, what: str, folder: str, asked: Sequence[Question] = ()
) -> tuple[Run, list[tuple[float, list[str]]]]:
    """A program: what its process took, and what it printed."""
    line = [sys.executable, "-m", f"benchmarks.programs.{PROGRAMS[name][0]}", what, folder]
    given = "".join(json.dumps(each.text) + "\n" for each in asked)
    with (
        Path(folder, "in").open("w+", encoding="utf-8") as lines,
        Path(folder, "out").open("w+", encoding="utf-8") as out,
    ):
        lines.write(given)
        lines.seek(0)
        started = perf_counter()
        with subprocess.Popen(
            line,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
            stdin=lines,
            stdout=out,
            stderr=subprocess.DEVNULL,
        ) as process:
            taken = ended(process, line, started)
        out.seek(0)
        return taken, [(each[0], each[1]) for each in map(json.loads, out)]


def _peer(
    name: str,
    indexed: Sequence[Run],
    first: Sequence[Run],
    found: Sequence[tuple[float, list[str]]],
    asked: Sequence[Question],
) -> Peer:
    right = [
        bool(documents) and Path(documents[0]).name in question.files
        for (_, documents), question in zip(found, asked, strict=True)
    ]
    return Peer(
        name=name,
        index=round(min(run.cpu for run in indexed), 2),
        index_megabytes=round(max(run.megabytes for run in indexed)),
        first=round(min(run.cpu for run in first), 2),
        first_megabytes=round(max(run.megabytes for run in first)),
        further=round(1000 * median(seconds for seconds, _ in found[1:]), 2),
        right=round(sum(right) / len(right), 3),
    )


def text(peers: Sequence[Peer]) -> str:
    """A Markdown table."""
    header = ["", "index, CPU s", "MB", "one search from start, CPU s", "MB"]
    rows = [
        [
            each.name,
            f"{each.index:.2f}",
            f"{each.index_megabytes:.0f}",
            f"{each.first:.2f}",
            f"{each.first_megabytes:.0f}",
            f"{each.further:.1f}",
            f"{each.right:.1%}",
        ]
        for each in peers
    ]
    return grid([*header, "a further search, CPU ms", "right document first"], rows)
