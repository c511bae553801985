"""Graphs in eight bits beside the models that they were exported from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from indexing.models.graphs import eight_bits, graph_export
from indexing.models.graphs.graph import WEIGHTS, GraphName
from indexing.models.graphs.graph_cache import load_or_make
from indexing.models.graphs.graph_export import Export

SIZE, COUNT = 128, 9_000  # a table of more than a million numbers
LOUD = 1  # a token whose states are large


class Wide(nn.Module):
    """Embeddings and three products: one of states with states, and a narrow one."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(COUNT, SIZE)
        self.layer = nn.Linear(SIZE, SIZE)
        self.head = nn.Linear(SIZE, 2)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        words = self.words(ids)
        states = self.layer(words * torch.where(ids[..., None] == LOUD, 100.0, 1.0))
        mixed = torch.softmax(words @ words.transpose(1, 2) / SIZE, -1) @ states
        return states, self.head(mixed)


def wide() -> Wide:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return Wide().eval()


def build() -> Export:
    ids = torch.arange(12).view(2, 6)
    return Export(
        wide(),
        axes={"ids": ("n", "t"), "states": ("n", "t"), "heads": ("n", "t")},
        example={"ids": ids},
        probe={"ids": ids[:1, :4] + 2},
        eight_bits=True,
    )


@pytest.mark.parametrize("exact", [True, False])
def test_it_computes_about_what_its_model_computes(
    name: GraphName, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exact:
        monkeypatch.setattr(eight_bits, "is_exact", lambda: False)
    graph = load_or_make(name, build)
    assert graph is not None
    assert (name.folder / WEIGHTS).stat().st_size < 1.1 * COUNT * (SIZE + 4)
    for shape in ((1, 1), (2, 6), (5, 31)):
        ids = np.random.default_rng(0).integers(2, COUNT, shape)
        with torch.inference_mode():
            wanted = [each.numpy() for each in wide()(torch.from_numpy(ids))]
        for got, want in zip(graph.run({"ids": ids}), wanted, strict=True):
            off = np.abs(got - want)
            assert off.max() < 0.05 * np.abs(want).max() and off.mean() < 0.01 * np.abs(want).max()


def test_a_token_with_large_states_leaves_the_others_their_scale(name: GraphName) -> None:
    """With one scale for all, those beside it would have two or three values to be of."""
    graph = load_or_make(name, build)
    assert graph is not None
    ids = np.array([[LOUD, 500, 600, 700]])
    with torch.inference_mode():
        wanted = wide()(torch.from_numpy(ids))[0].numpy()[:, 1:]
    (got, _) = graph.run({"ids": ids})
    np.testing.assert_allclose(got[:, 1:], wanted, atol=0.03 * np.abs(wanted).max())


def test_one_that_gives_something_else_is_not_used(
    name: GraphName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_export, "_ROUNDED", 1e-6)
    assert load_or_make(name, build) is None


def test_this_processor_is_asked_once() -> None:
    assert eight_bits.is_exact() in (True, False)
    assert eight_bits.is_exact.cache_info().currsize == 1
