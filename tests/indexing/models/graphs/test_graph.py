"""Graphs beside the models that they were exported from; damaged, stale and unwritable caches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Barrier, BoundedSemaphore

import numpy as np
import pytest
import torch
from filelock import FileLock
from torch import Tensor, nn

from indexing.encoder.tokenizer import IntArray
from indexing.models.graphs.graph import (
    GRAPH,
    PROBE,
    RECORD,
    WEIGHTS,
    Graph,
    GraphName,
    load_graph,
)
from indexing.models.graphs.graph_cache import load_or_make
from indexing.models.graphs.graph_export import Export
from tests.permissions import unprivileged
from tests.waiting import PATIENCE

SIZE = 64


class Small(nn.Module):
    """Embeddings, attention over all tokens, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, SIZE)
        self.layer = nn.Linear(SIZE, SIZE)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        states = self.layer(self.words(ids))
        mixed = torch.softmax(states @ states.transpose(1, 2), -1) @ states
        return mixed, mixed.mean(1)


def small() -> Small:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return Small().eval()


def build() -> Export:
    ids = torch.arange(12).view(2, 6)
    return Export(
        small(),
        axes={"ids": ("n", "t"), "states": ("n", "t"), "means": ("n",)},
        example={"ids": ids},
        probe={"ids": ids[:1, :4]},
        facts={"size": SIZE},
    )


def test_passes_are_computed_side_by_side_and_given_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("indexing.models.graphs.graph.available_cores", lambda: 2)
    monkeypatch.setattr("indexing.models.graphs.graph._TURN", BoundedSemaphore(2))
    both = Barrier(2, timeout=PATIENCE)
    lengths: list[int] = []

    class Session:
        """Of ONNX Runtime: a pass ends when another has begun."""

        def run(self, _: None, inputs: Mapping[str, IntArray]) -> list[IntArray]:
            lengths.append(inputs["ids"].size)
            both.wait()
            return [inputs["ids"]]

    every = [np.arange(length) for length in (3, 9, 1, 5)]
    done = Graph({}, Session(), Path()).run_each([{"ids": ids} for ids in every])
    assert [ids.tolist() for (ids,) in done] == [ids.tolist() for ids in every]
    assert sorted(lengths[:2]) == [5, 9]


def never() -> Export:
    raise AssertionError("it is in the cache")


def test_it_computes_what_its_model_computes_at_any_shape(name: GraphName) -> None:
    told: list[str] = []
    made = load_or_make(name, build, notify=told.append)
    again = load_or_make(name, never)
    assert made is not None and again is not None and len(told) == 1
    assert again.record == {"size": SIZE}
    for shape in ((1, 1), (2, 6), (5, 31)):
        ids = np.random.default_rng(0).integers(0, 50, shape)
        with torch.inference_mode():
            wanted = [each.numpy() for each in small()(torch.from_numpy(ids))]
        for graph in (made, again):
            for got, want in zip(graph.run({"ids": ids}), wanted, strict=True):
                np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("file", [GRAPH, WEIGHTS, PROBE, RECORD])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_one_is_made_again(name: GraphName, file: str, damage: str) -> None:
    assert load_or_make(name, build) is not None
    broken = name.folder / file
    data = broken.read_bytes()
    if damage == "gone":
        broken.unlink()
    else:
        half = len(data) // 2
        flipped = bytes(byte ^ 0x5A for byte in data[half : half + 4000])
        broken.write_bytes(
            data[:half] if damage == "cut" else data[:half] + flipped + data[half + 4000 :]
        )
    assert load_graph(name) is None
    assert load_or_make(name, build) is not None
    assert load_graph(name) is not None


def test_another_content_or_version_is_another_graph(
    name: GraphName, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = name.folder
    name.files[0].write_bytes(b"WEIGHTS")
    second = name.folder
    monkeypatch.setattr("importlib.metadata.version", lambda _: "99")
    assert len({first, second, name.folder}) == 3
    assert load_graph(name) is None


def test_without_a_cache_that_can_be_written_to_there_is_none(
    name: GraphName, tmp_path: Path
) -> None:
    tmp_path.chmod(0o555)
    with unprivileged():
        assert load_or_make(name, never) is None
    tmp_path.chmod(0o755)


def test_one_process_exports_and_others_do_not_wait(name: GraphName) -> None:
    name.folder.parent.mkdir(parents=True)
    with FileLock(name.folder.with_suffix(".lock")):
        assert load_or_make(name, never) is None
    assert load_or_make(name, build) is not None


def test_a_model_that_cannot_be_traced_has_none(name: GraphName) -> None:
    class Branching(Small):
        def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
            states, means = super().forward(ids)
            return (states + 1, means) if ids.shape[1] == 6 else (states, means)

    def branching() -> Export:
        one = build()
        return Export(Branching(), one.axes, one.example, one.probe)

    assert load_or_make(name, branching) is None
    assert [path.suffix for path in name.folder.parent.iterdir()] in ([], [".lock"])
