"""Graphs: models that ONNX Runtime runs, ready in 50 ms and without torch.

A graph is exported from the model itself, once (`indexing.models.graphs.graph_export`), into a
folder of the user's cache, whose name changes with the content of the model's files and with the
version of ONNX Runtime. Its weights are mapped into memory, not read: what one short text
touches is what it takes. Each folder holds a probe, inputs with the outputs that the model itself
gave for them; a graph that gives others, or is not whole, is no graph, and is made again.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexing.models.cached_folder import cache_dir
from indexing.models.files import content_hash
from indexing.models.graphs.cores import available_cores

if TYPE_CHECKING:
    from onnxruntime import SessionOptions

Array = NDArray[Any]
Arrays = Mapping[str, Array]

GRAPH, WEIGHTS, PROBE, RECORD = "graph.onnx", "weights.bin", "probe.npz", "record.json"

_LAYOUT = "1"
"""Part of every key: a change in what is written asks for a new export."""

_TOLERANCE = 1e-3  # of an output's largest value: rounding, over all layers, is a hundredth of it

_TURN = threading.BoundedSemaphore(available_cores())  # of all graphs: a core computes one pass


@dataclass(frozen=True, slots=True)
class GraphName:
    """Which graph: of what, made from which files."""

    name: str  # what it computes, and with which model: part of the folder's name
    files: Sequence[Path]  # every file that decides what it computes

    @property
    def folder(self) -> Path:
        """Where it lies in the cache, if it is there.

        Raises:
            PackageNotFoundError: ONNX Runtime is not installed.
        """
        version = metadata.version("onnxruntime")
        name = re.sub(r"[^\w.-]", "_", self.name)
        key = f"{_LAYOUT} {version} {content_hash(list(self.files))}"
        return cache_dir() / "graphs" / f"{name}-{sha256(key.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Graph:
    """A model that ONNX Runtime runs on the CPU, in float32 or eight bits."""

    record: Mapping[str, Any]  # what was noted beside it when it was exported
    session: Any  # of ONNX Runtime
    file: Path  # where it was loaded from

    def run(self, inputs: Arrays) -> list[Array]:
        """Its outputs, in the order in which they were exported; by one thread."""
        with _TURN:
            return self.session.run(None, dict(inputs))  # type: ignore[no-any-return]

    def run_each(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """The outputs of several passes, in order: computed side by side, the longest first."""
        at_once = min(available_cores(), len(inputs))
        if at_once < 2:
            return [self.run(each) for each in inputs]
        order = sorted(range(len(inputs)), key=lambda i: -max(x.size for x in inputs[i].values()))
        with ThreadPoolExecutor(at_once, "graph") as pool:
            done = dict(zip(order, pool.map(self.run, [inputs[i] for i in order]), strict=True))
        return [done[i] for i in range(len(inputs))]

    def packed(self) -> Graph:
        """The same with packed weights: ready a little later, and quicker for many short passes.

        The graph as it is where its file is no longer there.
        """
        try:
            return replace(self, session=session(self.file, packed=True))
        except Exception:  # whatever ONNX Runtime raises on an absent file
            return self


def load_graph(name: GraphName) -> Graph | None:
    """A graph from the cache; None where there is none, or none that can be relied on."""
    try:
        return read_graph(name.folder)
    except Exception:  # whatever ONNX Runtime raises on a damaged file, or an absent one
        return None


def read_graph(folder: Path) -> Graph:
    """The graph in a folder, after it has given for its probe what the model gave.

    Raises:
        ValueError: It is damaged.
        OSError: A file is missing.
        ImportError: ONNX Runtime is not installed.
    """
    record = json.loads((folder / RECORD).read_text("utf-8"))
    sizes = {file: (folder / file).stat().st_size for file in record["sizes"]}
    if sizes != record["sizes"] or content_hash([folder / GRAPH]) != record["graph"]:
        raise ValueError(f"{folder}: not as it was written")
    graph = Graph(record["facts"], session(folder / GRAPH), folder / GRAPH)
    with np.load(folder / PROBE, allow_pickle=False) as probe:
        inputs = {key[3:]: probe[key] for key in probe.files if key.startswith("in-")}
        outputs = [probe[key] for key in sorted(probe.files) if key.startswith("out-")]
    if not agree(graph.run(inputs), outputs):
        raise ValueError(f"{folder}: gives other values than its model")
    return graph


def session(file: Path, *, packed: bool = False) -> Any:  # noqa: ANN401 - it has no types
    """A graph's session; `packed` as in `session_options`."""
    import onnxruntime

    options = session_options(packed=packed)
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def session_options(*, packed: bool = False) -> SessionOptions:
    """Options under which a graph runs that is laid out already.

    Args:
        packed: Whether weights are copied into the layout of the products; else they are used
            where they are mapped, for a tenth of the time of a long pass, a quarter of a short one.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", str(int(not packed)))
    options.intra_op_num_threads = 1  # threads of one pass wait for each other (`Graph.run_each`)
    options.log_severity_level = 4  # what is wrong is raised, and said by us
    return options


def agree(some: Sequence[Array], others: Sequence[Array], tolerance: float = _TOLERANCE) -> bool:
    """Whether outputs are equal but for rounding: a share of the others' largest value."""
    return len(some) == len(others) and all(
        one.shape == other.shape
        and bool(np.abs(one - other).max(initial=0) <= tolerance * np.abs(other).max(initial=0))
        for one, other in zip(some, others, strict=True)
    )
