"""From Enter to the prompt: each command in a process of its own, its time, memory and imports."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.checkouts import ROOT, Run, run, run_command, sample_files, with_checkouts

MODELS = frozenset(
    {"torch", "transformers", "sentence_transformers", "onnx", "scipy", "sklearn", "pandas"}
)
FORMATS = frozenset({"bs4", "lxml", "docx", "pypdf", "charset_normalizer"})
OTHERS = frozenset({"gradio", "fastapi", "mcp", "langchain_core", "matplotlib", "huggingface_hub"})
RUNTIME = frozenset({"onnxruntime", "tokenizers", "faiss"})


@dataclass(frozen=True, slots=True)
class Budget:
    """What a command may take.

    Attributes:
        words: The command line, without the corpus.
        seconds: From Enter to the prompt, on two cores of today.
        megabytes: Of memory, files that are mapped included.
        without: Libraries that it must not import.
        least: What it cannot do without: the limit that its time is compared with.
        times: How many times the CPU time of that it may take, on any machine.
    """

    words: tuple[str, ...]
    seconds: float
    megabytes: int
    without: frozenset[str]
    least: str
    times: float


_LIGHT = MODELS | FORMATS | OTHERS | RUNTIME
_READING = _LIGHT | {"rich", "filelock", "email"}  # a bar, a lock, versions of packages
_QUESTION = MODELS | FORMATS | OTHERS
_CORPUS = "import click, sqlite3, numpy"
_SEARCH = f"{_CORPUS}, faiss, onnxruntime, tokenizers"

BUDGETS: Mapping[str, Budget] = {
    "--help": Budget(("--help",), 0.3, 100, _READING | {"numpy"}, "import click", 6),
    "list": Budget(("list",), 0.3, 100, _READING, _CORPUS, 5),
    "show": Budget(("show", "heron-3-budget"), 0.3, 100, _READING, _CORPUS, 5),
    "info": Budget(("info",), 0.3, 100, _READING, _CORPUS, 5),
    "index": Budget(  # with nothing to do
        ("index", *map(str, sample_files())),
        0.6,
        120,
        _LIGHT,
        _CORPUS,
        6,
    ),
    "search": Budget(
        ("search", "What was decided about the budget?"),
        1.5,
        250,
        _QUESTION,
        _SEARCH,
        6,
    ),
    "ask": Budget(
        ("ask", "Why was the budget cut?"),
        2.5,
        600,
        _QUESTION,
        _SEARCH,
        50,
    ),
}
"""By name. The tests hold what is imported, and the CPU time as a multiple of the limit's, both
measured in one run, so that a machine's speed hardly matters: more than twice what it takes."""


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Of each command; the best counts.")
@with_checkouts
def command(rounds: int, checkouts: Mapping[str, Path]) -> None:
    """Time and memory of commands, each in a process of its own, as a table."""
    with TemporaryDirectory() as folder:
        corpora = {name: Path(folder) / name for name in checkouts}
        for name, tree in checkouts.items():
            run_command(tree, "index", *map(str, sample_files()), "--corpus", str(corpora[name]))
        click.echo("| command | " + " | ".join(_columns(checkouts)) + " | limit CPU s | wanted |")
        click.echo("|---" * (4 * len(checkouts) + 3) + "|")
        for name, budget in BUDGETS.items():
            click.echo(_row(name, budget, checkouts, corpora, rounds))


def _columns(checkouts: Mapping[str, Path]) -> Iterator[str]:
    for name in checkouts:
        yield from (f"{name}: first words s", f"{name} s", f"{name} CPU s", f"{name} MB")


def _row(
    name: str,
    budget: Budget,
    checkouts: Mapping[str, Path],
    corpora: Mapping[str, Path],
    rounds: int,
) -> str:
    """One line of the table; rounds go through the trees in turn."""
    runs: dict[str, list[Run]] = {tree: [] for tree in checkouts}
    least = []
    for _ in range(rounds):
        least.append(run([sys.executable, "-c", budget.least], ROOT))
        for tree, root in checkouts.items():
            corpus = () if name == "--help" else ("--corpus", str(corpora[tree]))
            runs[tree].append(run_command(root, *budget.words, *corpus))
    cells = [
        f"{min(run.first for run in each):.2f} | {min(run.seconds for run in each):.2f} | "
        f"{min(run.cpu for run in each):.2f} | {max(run.megabytes for run in each):.0f}"
        for each in runs.values()
    ]
    limit = min(run.cpu for run in least)
    times = min(run.cpu for run in runs["now"]) / limit
    wanted = f"{budget.seconds} s, {budget.megabytes} MB, {times:.1f} of {budget.times} limits"
    return f"| {name} | " + " | ".join(cells) + f" | {limit:.2f} | {wanted} |"
