"""Workers of a Ray cluster: how many there are, what they raise, and those that die."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexing.errors import InvalidRequest, UnreadableFile, WorkersLost
from rag_app.corpus.cluster.workers import REPEATS, RayWorkers, WorkerPool, lasting
from tests.ray_machines import NODE, machines


@pytest.mark.parametrize(("cpus", "gpus"), [(0, 0), (-1, 1), (1, -0.5), (1, 1.5), (2.5, 0)])
def test_what_no_worker_can_take_is_refused(cpus: float, gpus: float) -> None:
    with pytest.raises(InvalidRequest):
        RayWorkers("head:6379", cpus, gpus)
    for fine in ((1, 0), (0.5, 0), (0, 0.25), (4, 2)):
        RayWorkers("head:6379", *fine)


def test_models_in_folders_are_called_by_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    assert lasting("model") == str(tmp_path / "model") and lasting("name") == "name"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with machines(nodes=1) as cluster:
        cluster.add_node(**NODE, num_gpus=1)  # Ray believes it
        cluster.wait_for_nodes()
        yield cluster


@pytest.mark.slow
def test_workers_are_as_many_as_machines_have_room_for(cluster: Any) -> None:
    counts = {(1, 0): 3, (0.5, 0): 6, (0, 0.25): 4, (0.5, 0.25): 2, (0, 1): 1, (2, 0): 0}
    for (cpus, gpus), count in counts.items():
        said = list[str]()
        pool = WorkerPool(RayWorkers(cluster.address, cpus, gpus), said.append)
        assert pool.count == count, (cpus, gpus)
        assert bool(said) == (count == 0)
    pool = WorkerPool(RayWorkers(cluster.address, 0, 0.5))
    assert pool.call("a GPU", lambda: os.environ["CUDA_VISIBLE_DEVICES"])() == "0"


@pytest.mark.slow
def test_what_a_worker_raises_comes_as_it_is_and_its_death_by_name(
    cluster: Any, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise UnreadableFile("a.txt", "is empty", "fill it")

    def die(log: Path) -> None:
        with log.open("a") as file:
            file.write("x")
        os._exit(1)

    pool = WorkerPool(RayWorkers(cluster.address))
    with pytest.raises(UnreadableFile, match=r"a\.txt: is empty; fill it") as raised:
        pool.call("a file", refuse)()
    assert raised.value.remedy == "fill it"
    with pytest.raises(WorkersLost, match=f"a book: {REPEATS + 1} workers"):
        pool.call("a book", die, tmp_path / "log")()
    assert len((tmp_path / "log").read_text()) == REPEATS + 1
