"""From Enter to the prompt: each command in a process of its own, its time, memory and imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"

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
    """

    words: tuple[str, ...]
    seconds: float
    megabytes: int
    without: frozenset[str]
    least: str


def sample_files() -> list[Path]:
    """The sample documents."""
    return sorted(file for file in SAMPLES.iterdir() if file.suffix != ".jsonl")


_LIGHT = MODELS | FORMATS | OTHERS | RUNTIME
_READING = _LIGHT | {"rich", "filelock", "email"}  # a bar, a lock, versions of packages
_QUESTION = MODELS | FORMATS | OTHERS

BUDGETS: Mapping[str, Budget] = {
    "--help": Budget(("--help",), 0.3, 100, _READING | {"numpy"}, "import click"),
    "list": Budget(("list",), 0.3, 100, _READING, "import click, sqlite3, numpy"),
    "show": Budget(("show", "heron-3-budget"), 0.3, 100, _READING, "import click, sqlite3, numpy"),
    "info": Budget(("info",), 0.3, 100, _READING, "import click, sqlite3, numpy"),
    "index": Budget(  # with nothing to do
        ("index", *map(str, sample_files())),
        0.6,
        120,
        _LIGHT,
        "import click, sqlite3, numpy",
    ),
    "search": Budget(
        ("search", "What was decided about the budget?"),
        1.5,
        250,
        _QUESTION,
        "import click, sqlite3, numpy, faiss, onnxruntime, tokenizers",
    ),
    "ask": Budget(
        ("ask", "Why was the budget cut?"),
        2.5,
        600,
        _QUESTION,
        "import click, sqlite3, numpy, faiss, onnxruntime, tokenizers",
    ),
}
"""By name. The tests hold the imports, which no machine's speed changes."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took.

    Attributes:
        seconds: On the clock.
        cpu: Seconds of all cores.
        megabytes: Its peak.
    """

    seconds: float
    cpu: float
    megabytes: float


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Of each command; the best counts.")
@click.option(
    "--before",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Another checkout, to be timed in turn with this one.",
)
def command(rounds: int, before: Path | None) -> None:
    """Time and memory of commands, each in a process of its own, as a table."""
    trees = {"now": ROOT} if before is None else {"before": before.resolve(), "now": ROOT}
    with TemporaryDirectory() as folder:
        corpora = {name: Path(folder) / name for name in trees}
        for name, tree in trees.items():
            run_command(tree, "index", *map(str, sample_files()), "--corpus", str(corpora[name]))
        click.echo("| command | " + " | ".join(_columns(trees)) + " | limit s | wanted |")
        click.echo("|---" * (3 * len(trees) + 3) + "|")
        for name, budget in BUDGETS.items():
            click.echo(_row(name, budget, trees, corpora, rounds))


def _columns(trees: Mapping[str, Path]) -> Iterator[str]:
    for name in trees:
        yield from (f"{name} s", f"{name} CPU s", f"{name} MB")


def _row(
    name: str,
    budget: Budget,
    trees: Mapping[str, Path],
    corpora: Mapping[str, Path],
    rounds: int,
) -> str:
    """One line of the table; rounds go through the trees in turn."""
    runs: dict[str, list[Run]] = {tree: [] for tree in trees}
    least = []
    for _ in range(rounds):
        least.append(run([sys.executable, "-c", budget.least], ROOT))
        for tree, root in trees.items():
            corpus = () if name == "--help" else ("--corpus", str(corpora[tree]))
            runs[tree].append(run_command(root, *budget.words, *corpus))
    cells = [
        f"{min(run.seconds for run in each):.2f} | {min(run.cpu for run in each):.2f} | "
        f"{max(run.megabytes for run in each):.0f}"
        for each in runs.values()
    ]
    limit = min(run.seconds for run in least)
    wanted = f"{budget.seconds} s, {budget.megabytes} MB"
    return f"| {name} | " + " | ".join(cells) + f" | {limit:.2f} | {wanted} |"


def run_command(tree: Path, *words: str) -> Run:
    """Run `rag-app` of a checkout."""
    return run([sys.executable, "-m", "rag_app", *words], tree)


def run(line: Sequence[str], tree: Path) -> Run:
    """Run a process to its end.

    Raises:
        ClickException: It failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    started = perf_counter()
    with subprocess.Popen(line, cwd=tree, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"{' '.join(line)} ended with {process.returncode}")
    peak = usage.ru_maxrss / 1e6 if sys.platform == "darwin" else usage.ru_maxrss * 1024 / 1e6
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak)
