"""Documents encoded on a Ray cluster have the vectors that they have here, whoever dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.settings import EncoderSettings
from indexing.errors import EncoderMismatch
from indexing.files import document
from indexing.index_report import Progress
from rag_app.corpus.cluster import encoding
from rag_app.corpus.cluster.workers import RayWorkers
from rag_app.corpus.corpus import Corpus
from tests.ray_machines import kill_a_worker, machines
from tests.waiting import wait_until

KILLS = 20
DRIVER = """
import sys
from rag_app.corpus.cluster.workers import RayWorkers
from rag_app.corpus.corpus import Corpus
from indexing.encoder.settings import EncoderSettings
if __name__ == "__main__":
    folder, files, address = sys.argv[1:]
    encoder = EncoderSettings(dtype="float32", max_length=64)
    with Corpus(folder, encoder=encoder, workers=RayWorkers(address)) as corpus:
        corpus.add([files], progress=lambda step: print(step.tokens, flush=True))
"""


def test_a_machine_with_another_revision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        fingerprint = Fingerprint("m", "2", "none", 8, "mean", "float32", 4)

    monkeypatch.setattr(encoding, "_encoder", lambda settings: Other)
    wanted = Fingerprint("m", "1", "none", 8, "mean", "float32", 4)
    with pytest.raises(EncoderMismatch, match="install the same on all machines"):
        encoding.encode(EncoderSettings("m"), wanted, document("a", name="a"), ())


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with machines() as cluster:
        yield cluster


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for n in range(60):
        (folder / f"talk-{n:02}.txt").write_text(
            f"Ana: The probe {n} fell into the lake.\nBob: It cost {n * 7} euros.\n" * (9 + n % 7)
        )
    return folder


def check_equal(one: Corpus, other: Corpus) -> None:
    """The same documents with the same vectors, to the last bit."""
    assert {each.id for each in one.documents()} == {each.id for each in other.documents()}
    with one.reading() as first, other.reading() as second:
        assert first.store.fingerprint() == second.store.fingerprint()
        for each in one.documents():
            ours, theirs = (now.store.passage_vectors_of(each.id) for now in (first, second))
            np.testing.assert_array_equal(ours, theirs)


def documents(place: Path) -> int:
    """How many are committed."""
    with Corpus(place) as corpus:
        return len(corpus.documents()) if corpus.exists else 0


@pytest.mark.slow
def test_killed_workers_cost_no_document(
    cluster: Any, files: Path, tmp_path: Path, encoder: Encoder
) -> None:
    draw, kills, steps = Random(3), [0], list[Progress]()

    def kill(step: Progress) -> None:
        if step.tokens and kills[0] < KILLS and (not steps or step.path != steps[-1].path):
            kills[0] += kill_a_worker("encode", draw)
        steps.append(step)

    workers = RayWorkers(cluster.address)
    with (
        Corpus(tmp_path / "here", encoder=encoder) as here,
        Corpus(tmp_path / "there", encoder=encoder.settings, workers=workers) as there,
    ):
        here.add([files])
        report = there.add([files], progress=kill)
        assert kills == [KILLS] and len(report.added) == 60 and not report.failures
        assert max(step.workers for step in steps) == 4
        check_equal(here, there)
        for corpus in (here, there):
            corpus.close()
    again = EncoderSettings(dtype="float32", max_length=32)
    with (
        Corpus(tmp_path / "here", encoder=again) as here,
        Corpus(tmp_path / "there", encoder=again, workers=workers) as there,
    ):
        assert here.reencode() == there.reencode()
        check_equal(here, there)


@pytest.mark.slow
def test_a_killed_driver_resumes_and_a_lost_node_costs_no_document(
    cluster: Any, files: Path, tmp_path: Path, encoder: Encoder
) -> None:
    place, held = tmp_path / "there", list[int]()
    for least in (5, 25):
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(place), str(files), cluster.address],
            stdout=subprocess.PIPE,
        )
        assert driver.stdout
        wait_until(lambda: documents(place) >= least)  # noqa: B023 - at once
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        driver.stdout.close()
        held.append(documents(place))
    workers = RayWorkers(cluster.address)
    lost = threading.Event()

    def lose_a_node(step: Progress) -> None:
        if step.tokens and not lost.is_set():
            lost.set()
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)

    with (
        Corpus(tmp_path / "here", encoder=encoder) as here,
        Corpus(place, encoder=encoder.settings, workers=workers) as there,
    ):
        here.add([files])
        report = there.add([files], progress=lose_a_node)
        assert report.unchanged == held[1] > held[0] >= 5
        assert len(report.added) == 60 - held[1] and lost.is_set()
        check_equal(here, there)
