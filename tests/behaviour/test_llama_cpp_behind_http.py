"""llama.cpp's server, asked as any OpenAI-compatible one: its good days and its last."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.answer import TextDelta
from generator.lm.server.openai_server import RemoteModel
from generator.prompt.pictures import interleave, safe_picture
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest, ServerFailed
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.run import Step, run
from rag_app.corpus.corpus import Corpus
from rag_app.request_fields import AskOptions
from tests.generator.llama_server import WINDOW, packaged_file
from tests.indexing.loaders.test_figures import chart

KEY = "secret"
LONG = "Count slowly from one to a thousand, and say each number twice."


@contextmanager
def running(*port: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, at a port of its own or at this one, and the name of its model."""
    command = [sys.executable, "-m", "tests.generator.llama_server", KEY, *port]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        yield process, f"openai:http://127.0.0.1:{process.stdout.readline().strip()}/v1#any"
        process.kill()


@pytest.fixture(scope="module")
def name() -> Iterator[str]:
    with running() as (_, name):
        yield name


def test_text_is_streamed(name: str) -> None:
    model = RemoteModel(name, key=KEY)
    pieces = list(model.stream("Name the capital of France.", max_new_tokens=20))
    assert "Paris" in "".join(pieces) and len(pieces) > 2
    (listed,) = model.names()
    assert RemoteModel(name.replace("#any", f"#{listed}"), key=KEY).window == WINDOW


def test_it_stops_while_it_reads_and_while_it_writes(name: str) -> None:
    model, stop = RemoteModel(name, key=KEY), threading.Event()
    threading.Timer(0.2, stop.set).start()
    reading = "Another word about another matter. " * 120
    assert list(model.stream(reading, max_new_tokens=1, stop=stop)) == []
    stop.clear()
    for _ in model.stream(LONG, max_new_tokens=900, stop=stop):
        stop.set()
    assert "".join(model.stream("Name the capital of France.", max_new_tokens=5))


def test_a_model_without_eyes_says_so(name: str) -> None:
    picture = safe_picture(chart(), "")
    assert picture is not None
    with pytest.raises(ServerFailed, match=r"does not see \(.+\); leave out --sees"):
        list(RemoteModel(name, key=KEY).stream(interleave("What?", [picture]), max_new_tokens=5))


def test_its_answers_are_those_of_the_same_file_in_this_process(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_API_KEY", KEY)
    with asking(tmp_path, name) as corpus:
        for question in ("At what time does ferry 0 sail?", "How many ferries sail?"):
            corpus.use_generator(settings_of(name), key=None)
            events = list(corpus.stream(question, mode="free", abstain_below=0))
            *texts, _ = (one.text for one in events if isinstance(one, TextDelta))
            there = corpus.ask(question, mode="free", abstain_below=0)
            corpus.use_generator(settings_of(str(packaged_file())), key=None)
            here = corpus.ask(question, mode="free", abstain_below=0)
            assert len(texts) > 2
            assert there.text == here.text and there.citations == here.citations


def test_a_wrong_key(name: str) -> None:
    with pytest.raises(ServerFailed, match="refuses the key"):
        list(RemoteModel(name, key="wrong").stream("Hello", max_new_tokens=5))


def test_more_than_it_reads(name: str) -> None:
    long = "Another word about another matter. " * 400
    with pytest.raises(InvalidRequest, match=r"reads no more.*--prompt-tokens"):
        list(RemoteModel(name, key=KEY).stream(long, max_new_tokens=5))


def test_it_dies_while_it_reads() -> None:
    with running() as (process, name):
        threading.Timer(0.2, process.kill).start()
        reading = "Another word about another matter. " * 120
        with pytest.raises(ServerFailed, match=r"look at the server|cannot be reached|broke off"):
            list(RemoteModel(name, key=KEY).stream(reading, max_new_tokens=1))


def test_a_batch_loses_nothing_when_it_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_API_KEY", KEY)
    questions = [Question(str(at), f"When does ferry {at} sail?") for at in range(3)]
    out, fields = tmp_path / "answers.jsonl", AskOptions(abstain_below=0)
    with running() as (process, name), asking(tmp_path, name) as corpus:

        def kill(step: Step) -> None:
            if step.done == 1:
                process.kill()
                process.wait()

        options = BatchOptions(fields)
        with pytest.raises(ServerFailed, match="cannot be reached"):
            run(corpus, questions, out, options=options, progress=kill)
        (before,) = out.read_text().splitlines()
        port = name.partition("/v1")[0].rpartition(":")[2]
        with running(port) as (_, again):
            assert again == name
            second = run(corpus, questions, out, options=options)
    assert (second.asked, second.kept, second.answered, second.failed) == (2, 1, 3, 0)
    lines = out.read_text().splitlines()
    assert before in lines and all(json.loads(line)["model"] == name for line in lines)


def settings_of(name: str) -> GeneratorSettings:
    return GeneratorSettings(model=name, answer="free", max_new_tokens=12)


@contextmanager
def asking(folder: Path, name: str) -> Iterator[Corpus]:
    """A corpus of ferries whose answers a model writes."""
    with Corpus(folder / "corpus", generator=settings_of(name)) as corpus:
        lines = (f"Ferry {at} sails at {at + 7} o'clock." for at in range(3))
        corpus.add_text(" ".join(lines), name="ferries")
        yield corpus


def test_it_dies_while_it_writes() -> None:
    pieces = []
    with running() as (process, name):
        with pytest.raises(ServerFailed, match=r"broke off \(.+\); look at the server's log"):
            for piece in RemoteModel(name, key=KEY).stream(LONG, max_new_tokens=900):
                pieces.append(piece)
                process.kill()
        assert pieces
        with pytest.raises(ServerFailed, match="cannot be reached"):
            list(RemoteModel(name, key=KEY).stream("Hello", max_new_tokens=5))
