"""docs/python.md runs from top to bottom, and prints what it shows; the README's example runs."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from rag_app.corpus.models import Models
from tests.conftest import LOAD_ENCODER

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: str) -> list[tuple[int, str, str]]:
    """(line, code, output) of each example; the output is the text block that follows it."""
    blocks: list[tuple[int, str, str]] = []
    for fence in FENCE.finditer(page):
        kind, inside = fence.groups()
        if kind == "python":
            blocks.append((page[: fence.start(2)].count("\n"), inside, ""))
        else:
            assert kind == "text" and blocks and not blocks[-1][2], f"a lonely block: {inside}"
            blocks[-1] = (*blocks[-1][:2], inside)
    return blocks


def run(page: str) -> list[tuple[str, str]]:
    """(printed, shown) of each example, all in one program."""
    names: dict[str, object] = {"__name__": "__main__"}
    pairs = []
    for line, code, shown in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + code, str(PAGE), "exec"), names)
        pairs.append((printed.getvalue(), shown))
    return pairs


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with the sample documents."""
    shutil.copytree(ROOT / "data" / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAG_APP_CORPUS", raising=False)


@pytest.mark.usefixtures("samples")
def test_every_example_prints_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexing.encoder.encoder.best_dtype", lambda _: torch.float32)
    monkeypatch.setattr(Models, "_load", LOAD_ENCODER)
    pairs = run(PAGE.read_text(encoding="utf-8"))
    assert len(pairs) > 10
    assert [printed for printed, _ in pairs] == [shown for _, shown in pairs]


@pytest.mark.usefixtures("samples")
def test_the_example_of_the_readme_runs() -> None:
    Path("data/samples").mkdir(parents=True)
    for name in ("heron-3-budget.srt", "heron-6-last-of-the-year.txt"):
        Path("samples", name).rename(Path("data/samples", name))
    ((printed, _),) = run(README.read_text(encoding="utf-8"))
    assert printed.startswith("heron-3-budget ")


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nx = 1\n```\n\n```text\n1\n```\n",
    ],
)
def test_another_output_is_noticed(page: str) -> None:
    assert any(printed != shown for printed, shown in run(page))


def test_a_broken_example_is_noticed() -> None:
    with pytest.raises(NameError):
        run("```python\nx = 1\n```\n\n```python\nprint(y)\n```\n")


@pytest.mark.slow
def test_a_program_of_somebody_else_passes_strict_types(tmp_path: Path) -> None:
    """The page as one program, under mypy's own settings, not this project's."""
    script = tmp_path / "program.py"
    page, _, _ = PAGE.read_text(encoding="utf-8").partition("## sentence-transformers")
    script.write_text("\n\n".join(code for _, code, _ in examples(page)), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
