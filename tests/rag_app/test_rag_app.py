"""What a program imports: all of it is there, and nothing heavy is loaded for it."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import rag_app

HEAVY = {"torch", "transformers", "sentence_transformers", "faiss", "langchain_core", "numpy"}


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_name_is_there_and_comes_from_its_home() -> None:
    assert rag_app.__all__ == sorted(rag_app.__all__) == dir(rag_app)
    assert {*rag_app._HOMES, "RagAppError", "__version__"} == set(rag_app.__all__)
    for name, home in rag_app._HOMES.items():
        assert getattr(rag_app, name) is getattr(sys.modules[home], name)


@pytest.mark.parametrize("package", ["indexing.extension", "indexing.loaders", "rag_app.langchain"])
def test_every_name_of_a_package_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_importing_it_loads_nothing_heavy() -> None:
    loaded = run("import sys, rag_app; print(*sys.modules)").split()
    assert HEAVY.isdisjoint(loaded) and "rag_app" in loaded


def test_without_langchain_the_error_names_the_command() -> None:
    said = run(
        "import sys; sys.modules['langchain_core'] = None\n"
        "from rag_app import RagAppError\n"
        "try: import rag_app.langchain\n"
        "except RagAppError as error: print(error)"
    )
    assert said.strip().endswith('run: pip install "rag-app[langchain]"')
