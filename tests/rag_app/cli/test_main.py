"""Help answers at once: no command loads a library of weight before it has work to do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rag_app.cli.main import main
from tests.waiting import cpu_seconds

HEAVY = {
    "bs4",
    "datasets",
    "docx",
    "faiss",
    "lxml",
    "matplotlib",
    "numpy",
    "pypdf",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "torch",
    "transformers",
}
PROGRAM = """
import sys
from rag_app.cli.main import main
try:
    main(prog_name="rag-app")
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def commands(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*words, name))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True)


# Forks a process for each command as it stands before any, for starting Python takes longest.
HELP_OF_EACH = """
import json, os, sys
from rag_app.cli.main import main
for line in sys.stdin:
    if os.fork():
        os.wait()
        continue
    try:
        main([*json.loads(line), "--help"], prog_name="rag-app")
    finally:
        print(json.dumps([*{name.partition(".")[0] for name in sys.modules}]), flush=True)
        os._exit(0)
"""


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], tuple[str, set[str]]]:
    """What each command prints as its help, and what has been imported then."""
    every = list(commands(main))
    asked = "".join(f"{json.dumps(words)}\n" for words in every)
    program = [sys.executable, "-c", HELP_OF_EACH]
    done = subprocess.run(program, input=asked, capture_output=True, text=True, check=True)
    found, printed = [], list[str]()
    for line in done.stdout.splitlines():
        if line.startswith("["):
            found.append(("\n".join(printed), set(json.loads(line))))
            printed.clear()
        else:
            printed.append(line)
    return dict(zip(every, found, strict=True))


@pytest.mark.parametrize("words", list(commands(main)), ids=" ".join)
def test_help_loads_nothing_heavy(
    words: tuple[str, ...], helps: dict[tuple[str, ...], tuple[str, set[str]]]
) -> None:
    said, imported = helps[words]
    assert said.startswith(" ".join(["Usage: rag-app", *words]))
    assert HEAVY.isdisjoint(imported)


def test_help_costs_little_more_than_the_libraries_that_print_it() -> None:
    bare = [sys.executable, "-c", "import click, rich.console"]
    least = min(cpu_seconds(lambda: subprocess.run(bare, check=True)) for _ in range(5))
    assert min(cpu_seconds(lambda: run("--help")) for _ in range(5)) < 4 * least


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    import rag_app

    assert run("--version").stdout.split()[-1] == version("rag-app") == rag_app.__version__


def test_a_name_that_leads_nowhere_is_an_error_and_makes_no_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    for name in (tmp_path / "nope.txt", "x" * 5000):
        done = CliRunner().invoke(main, ["index", str(name), "--corpus", str(corpus)])
        assert done.exit_code == 1 and not corpus.exists()
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("rag-app: ")
