"""Questions answered on a Ray cluster have the answers that they have here, whoever dies."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from generator.answer_json import as_json, schema
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.encoder.encoder import Encoder
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import Step, run
from rag_app.corpus.cluster import answers
from rag_app.corpus.cluster.workers import RayWorkers
from rag_app.corpus.corpus import Corpus
from tests.ray_machines import kill_a_worker, machines
from tests.waiting import wait_until

KILLS = 20
QUESTIONS = [Question(f"q{n}", f"What did the probe {n % 12} cost?") for n in range(110)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    folder = tmp_path_factory.mktemp("answers") / "corpus"
    with Corpus(folder, encoder=encoder) as corpus:
        for n in range(12):
            text = f"Ana: The probe {n} fell into the lake.\nBob: It cost {n * 7} euros.\n" * 3
            corpus.add_text(text, name=f"talk-{n}")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file, timings aside."""
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [{name: value for name, value in each.items() if name != "seconds"} for each in found]


@pytest.fixture(scope="module")
def wanted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the batch is in this process."""
    out = tmp_path_factory.mktemp("wanted") / "answers.jsonl"
    with Corpus(folder) as corpus:
        run(corpus, QUESTIONS, out)
    return lines(out)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with machines() as cluster:
        yield cluster


def test_what_a_worker_is_sent_and_answers_survives_the_way(
    folder: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = AskRequest("What did the probe 3 cost?")
    with Corpus(folder, encoder=encoder) as corpus:
        hits = corpus.search(request.query)
        documents = {hit.document: corpus.document(hit.document) for hit in hits}
        here, generator = corpus.answer(request), corpus._answering._generator
        monkeypatch.setattr(answers, "_generator", lambda *_: generator)  # loaded already
        work = (GeneratorSettings(), None, request, Retrieval(hits, documents.__getitem__))
        sent = pickle.loads(pickle.dumps(work))
        there = pickle.loads(pickle.dumps(answers.answer(*sent)))
    jsonschema.validate(json.loads(json.dumps(as_json(there))), schema())
    assert here.citations and (there.text, there.citations) == (here.text, here.citations)


@pytest.mark.slow
def test_killed_workers_cost_no_question(
    cluster: Any, folder: Path, wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    draw, kills = Random(5), [0]

    def kill(step: Step) -> None:
        if kills[0] < KILLS:
            kills[0] += kill_a_worker("answer", draw)

    out = tmp_path / "answers.jsonl"
    with Corpus(folder, workers=RayWorkers(cluster.address)) as corpus:
        assert corpus.questions_at_once == 8
        options = BatchOptions(workers=corpus.questions_at_once)
        summary = run(corpus, QUESTIONS, out, options=options, progress=kill)
        assert kills == [KILLS] and (summary.asked, summary.failed) == (len(QUESTIONS), 0)
        assert lines(out) == wanted
        assert run(corpus, QUESTIONS, out, options=options).asked == 0


@pytest.mark.slow
def test_a_killed_driver_resumes_and_a_lost_node_costs_no_question(
    cluster: Any, folder: Path, wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    asked, out, held = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl", list[bytes]()
    asked.write_text(
        "\n".join(json.dumps({"id": one.id, "question": one.text}) for one in QUESTIONS)
    )
    assert read_questions(asked) == QUESTIONS
    command = ["rag_app", "batch", asked, "--out", out, "--corpus", folder]
    for least in (5, 25):
        driver = subprocess.Popen(
            [sys.executable, "-m", *map(str, command), "--ray", cluster.address, "--limit", "40"],
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") >= least)  # noqa: B023
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        held.append(out.read_bytes().rpartition(b"\n")[0])
    lost = list[Step]()

    def lose_a_node(step: Step) -> None:
        if not lost:
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
        lost.append(step)

    with Corpus(folder, workers=RayWorkers(cluster.address)) as corpus:
        options = BatchOptions(workers=corpus.questions_at_once)
        summary = run(corpus, QUESTIONS, out, options=options, progress=lose_a_node)
    assert summary.kept >= 25 and summary.failed == 0 and lost
    assert out.read_bytes().startswith(held[1]) and held[1].startswith(held[0])
    assert lines(out) == wanted
