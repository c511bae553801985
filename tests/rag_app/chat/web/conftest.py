"""The corpus that is served, and what it answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.answer import Answer
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served, serve
from tests.rag_app.chat.web.programs import PASSWORDS, QUESTION


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory, meetings: Path) -> Iterator[Served]:
    """A server over two meetings for all modules of this package, none of which changes it."""
    folder = shutil.copytree(meetings, tmp_path_factory.mktemp("served") / "corpus")
    with serve(folder) as running:
        yield running


@pytest.fixture(scope="package")
def corpus(served: Served) -> Iterator[Corpus]:
    with Corpus(served.folder) as corpus:
        yield corpus


@pytest.fixture(scope="package")
def expected(corpus: Corpus) -> Answer:
    return corpus.ask(QUESTION)


@pytest.fixture(scope="package")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with logins, over a menu for all, Ann's own diary, and Bob's plan, which he shares.

    Ann has the plan too, under another name. No module changes it.
    """
    folder = tmp_path_factory.mktemp("people") / "corpus"
    with Corpus(folder) as corpus:
        corpus.collections.create("ann", owner="ann")
        corpus.collections.create("plans", owner="bob", shared=True)
        corpus.add_text("Soup is served at noon.", name="menu")
        corpus.add_text("The ghost walked at midnight.", name="diary", collection="ann")
        for name, collection in {"mine": "ann", "plan": "plans"}.items():
            corpus.add_text("The mast is raised in May.", name=name, collection=collection)
    logins = folder.parent / "logins"
    logins.write_text("".join(f"{user}:{word}\n" for user, word in PASSWORDS.items()))
    with serve(folder, "--auth-file", str(logins)) as running:
        yield running
