"""One served corpus for all tests of serving: small, but every part of it real; and a Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served, serve
from tests.rag_app.chat.web.programs import PASSWORDS
from tests.waiting import BROWSER_PATIENCE

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SERVED = ("heron-5-field-trial.vtt", "heron-6-last-of-the-year.txt")

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def meetings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of two meetings, to be copied."""
    folder = tmp_path_factory.mktemp("meetings") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add(SAMPLES / name for name in SERVED)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, meetings: Path) -> Iterator[Served]:
    """`rag-app serve --api --mcp` over two meetings; one for each module, which may change it."""
    folder = shutil.copytree(meetings, tmp_path_factory.mktemp("served") / "corpus")
    with serve(folder) as running:
        yield running


@pytest.fixture
def slow_answers(served: Served) -> Iterator[None]:
    """Generated answers end only when they are stopped."""
    served.slow.touch()
    yield
    served.slow.unlink()


@pytest.fixture(scope="module")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with logins, over a document that is everybody's; one for each module."""
    folder = tmp_path_factory.mktemp("people") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add_text("The heron report is due on Friday the ninth.", name="heron")
    logins = folder.parent / "logins"
    logins.write_text("".join(f"{user}:{word}\n" for user, word in PASSWORDS.items()))
    with serve(folder, "--auth-file", str(logins)) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium for the tests of the page."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        said = "no Chromium here; install one, on Debian and Ubuntu: apt-get install chromium"
        pytest.fail(said) if os.environ.get("CI") else pytest.skip(said)
    expect.set_options(timeout=BROWSER_PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()
