"""A torch model in, its graph in the cache out: once per model and machine.

The model is traced as it is, changes merged, in float32 (a large one then brought to eight bits);
ONNX Runtime lays the graph out, and what it wrote is read back and compared with the model before
it gets its name, by one rename. A run that is killed half-way leaves a draft that the next one
throws away. Where a graph cannot be made, since the cache cannot be written, another process is
making it, `onnx` is missing, or the model is not of a kind that can be traced, the model itself
goes on doing the work.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from indexing.message import Notify
from indexing.models.cached_folder import make_whole
from indexing.models.files import content_hash
from indexing.models.graphs.eight_bits import in_eight_bits
from indexing.models.graphs.graph import (
    GRAPH,
    PROBE,
    RECORD,
    WEIGHTS,
    Array,
    Arrays,
    Graph,
    GraphName,
    agree,
    load_graph,
    read_graph,
    session,
    session_options,
)
from indexing.models.loading import loading

log = logging.getLogger(__name__)

_OPSET = 17
_SMALLEST = 1024  # bytes of a tensor that is kept outside of the graph's own file
_ROUNDED = 0.1  # of an output's largest value: how far eight bits may be off in one small pass
_TRACING = threading.Lock()  # one model at a time: PyTorch's tracer belongs to the process
_UNUSED = 30 * 86_400  # seconds after which the graphs of other versions are deleted


@dataclass(frozen=True, slots=True)
class Export:
    """A model and what it is traced with."""

    # in float32, on the CPU; its inputs by position, its outputs a tensor or a tuple
    model: nn.Module
    # of each input, then each output, the names of its axes; any length fits each
    axes: Mapping[str, Sequence[str]]
    example: Mapping[str, Tensor]  # inputs that the model is traced with
    # inputs of other lengths, small: what the graph must give the model's values for
    probe: Mapping[str, Tensor]
    facts: Mapping[str, Any] = field(default_factory=dict)  # kept beside the graph, as JSON
    eight_bits: bool = False  # whether the graph is to compute in eight bits

    @property
    def outputs(self) -> list[str]:
        """Their names, in order."""
        return [name for name in self.axes if name not in self.example]


def make_graph(
    name: GraphName, build: Callable[[], Export], *, notify: Notify | None = None
) -> Graph | None:
    """Export a graph into the cache, and load it; None where that is not possible now."""
    from filelock import FileLock, Timeout

    try:
        target = name.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        with _TRACING, FileLock(target.with_suffix(".lock"), timeout=0):
            if graph := load_graph(name):
                return graph
            if notify:
                notify(f"preparing {name.name} to start faster from now on (some seconds, once)")
            return _make(target, build(), name.name)
    except Timeout:
        log.info("%s: another process is exporting it", name.name)
    except Exception:  # whatever tracing raises on a model of another kind, or a full disk
        log.info("%s: cannot be exported", name.name, exc_info=True)
    return None


def _make(target: Path, export: Export, name: str) -> Graph:
    def write(draft: Path) -> None:
        _write(draft, export)
        read_graph(draft)

    shutil.rmtree(target, ignore_errors=True)  # what cannot be relied on
    make_whole(target, write)
    _drop_unused(target, name)
    return read_graph(target)


def _write(draft: Path, export: Export) -> None:
    """Graph, weights, probe, and last the record of them."""
    model = export.model.eval()
    traced = draft / "traced.onnx"
    with torch.inference_mode():
        expected = model(*export.probe.values())
    outputs = expected if isinstance(expected, tuple) else (expected,)
    _trace(model, export, traced)
    if export.eight_bits:
        in_eight_bits(traced)
    _lay_out(traced, draft / GRAPH)
    traced.unlink()
    inputs = {key: each.numpy() for key, each in export.probe.items()}
    values = [each.numpy() for each in outputs]
    if export.eight_bits:
        values = _about(draft, inputs, values)
    arrays = {f"in-{key}": each for key, each in inputs.items()}
    arrays |= {f"out-{number:02}": each for number, each in enumerate(values)}
    np.savez(draft / PROBE, allow_pickle=False, **arrays)
    record = {
        "facts": dict(export.facts),
        "graph": content_hash([draft / GRAPH]),
        "sizes": {file.name: file.stat().st_size for file in sorted(draft.iterdir())},
    }
    (draft / RECORD).write_text(json.dumps(record, indent=1), "utf-8")


def _trace(model: nn.Module, export: Export, path: Path) -> None:
    with warnings.catch_warnings(), loading():
        warnings.simplefilter("ignore")  # of the tracer, about Python values: the probe tells
        torch.onnx.export(
            model,
            tuple(export.example.values()),
            str(path),
            input_names=list(export.example),
            output_names=export.outputs,
            dynamic_axes={name: dict(enumerate(axes)) for name, axes in export.axes.items()},
            opset_version=_OPSET,
            dynamo=False,
        )


def _about(draft: Path, inputs: Arrays, values: Sequence[Array]) -> list[Array]:
    """What a graph in eight bits gives, which is about what its model gave.

    Raises:
        ValueError: It is something else.
    """
    given = Graph({}, session(draft / GRAPH), draft / GRAPH).run(inputs)
    if not agree(given, values, _ROUNDED):
        raise ValueError(f"{draft}: eight bits are too few")
    return given


def _lay_out(source: Path, target: Path) -> None:
    """Fuse what can be fused, and put the weights into a file that can be mapped."""
    import onnxruntime

    options = session_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    prefix = "session.optimized_model_external_initializers_"
    options.add_session_config_entry(f"{prefix}file_name", WEIGHTS)
    options.add_session_config_entry(f"{prefix}min_size_in_bytes", str(_SMALLEST))
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def _drop_unused(target: Path, name: str) -> None:
    """Delete graphs of other versions of the same, where they have not been made lately."""
    for other in target.parent.glob(f"{name}-*"):
        old = time.time() - other.stat().st_mtime > _UNUSED
        if old and other.is_dir() and other != target:
            shutil.rmtree(other, ignore_errors=True)
