"""A graph from the cache, or exported into it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from indexing.message import Notify
from indexing.models.graphs.graph import Graph, GraphName, load_graph

if TYPE_CHECKING:
    from indexing.models.graphs.graph_export import Export


def load_or_make(
    name: GraphName, build: Callable[[], Export], *, notify: Notify | None = None
) -> Graph | None:
    """A graph from the cache, or exported into it now; None where that cannot be."""
    graph = load_graph(name)
    if graph is not None or not all(map(find_spec, ("onnx", "onnxruntime", "torch"))):
        return graph
    from indexing.models.graphs.graph_export import make_graph

    return make_graph(name, build, notify=notify)
