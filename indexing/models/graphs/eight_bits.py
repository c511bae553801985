"""A traced graph in, the same in eight bits out: a third of the time, and a quarter of the weights.

Each product of states with weights is computed in integers: every row of the states has a scale of
its own, and every column of the weights (Dettmers et al. 2022, arXiv 2208.07339, section 2.1). One
scale for all states at once, as ONNX Runtime's own tool has it, loses what a few tokens with large
states leave to the others: a reader's logits are then off by 0.8, by rows by 0.13
(docs/notebook/experiments.md). Rows of embeddings have a scale each, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EMBEDDINGS = 1_000_000  # numbers of a table from which its rows are in eight bits
_NARROWEST = 16  # columns of a product that is worth it
_SMALLEST = 1e-9  # scale: rows of zeros have one too
_MIDDLE = 128  # what stands for zero among the states
_LARGEST = 127.0  # among the states and the weights


def in_eight_bits(traced: Path) -> None:
    """Rewrite a graph's products with weights, and its tables of embeddings."""
    import onnx

    model = onnx.load(traced)
    graph = model.graph
    rewriting = _Rewriting({each.name: each for each in graph.initializer})
    nodes = [new for node in graph.node for new in rewriting.of(node)]
    used = {name for node in nodes for name in node.input}
    kept = [each for name, each in rewriting.constants.items() if name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    onnx.save(model, traced)


class _Rewriting:
    """The nodes of a graph, one after the other, in eight bits."""

    def __init__(self, constants: dict[str, Any]) -> None:
        self.constants = constants
        self._rows: set[str] = set()  # states that are in eight bits already

    def of(self, node: Any) -> Iterator[Any]:  # noqa: ANN401 - of onnx, without types
        """What stands in a node's place."""
        if node.op_type == "MatMul" and (weights := self._weights(node.input[1])) is not None:
            yield from self._product(node, weights)
        elif node.op_type == "Gather" and (table := self._weights(node.input[0])) is not None:
            yield from self._row_of_table(node, table)
        else:
            yield node

    def _weights(self, name: str) -> NDArray[np.float32] | None:
        """A constant matrix that is large enough; None for anything else."""
        from onnx import numpy_helper

        each = self.constants.get(name)
        if each is None or len(each.dims) != 2 or each.dims[1] < _NARROWEST:
            return None
        return np.asarray(numpy_helper.to_array(each), np.float32)

    def _product(self, node: Any, weights: NDArray[np.float32]) -> Iterator[Any]:  # noqa: ANN401
        states, out = node.input[0], node.output[0]
        largest = _LARGEST if is_exact() else _LARGEST // 2
        scales = np.maximum(np.abs(weights).max(0) / largest, _SMALLEST)
        if states not in self._rows:
            yield from self._quantized(states, len(weights))
            self._rows.add(states)
        whole = self._constant(f"{out}-weights", np.rint(weights / scales).astype(np.int8))
        columns = self._constant(f"{out}-scales", scales.astype(np.float32))
        middle = self._constant("middle", np.uint8(_MIDDLE))
        yield _node("MatMulInteger", [f"{states}-eight", whole, middle], f"{out}-whole")
        yield _node("Cast", [f"{out}-whole"], f"{out}-float", to=_float())
        yield _node("Mul", [f"{out}-float", f"{states}-scale"], f"{out}-columns")
        yield _node("Mul", [f"{out}-columns", columns], f"{out}-rows")
        size = self._constant(f"{out}-size", np.array([weights.shape[1]]))
        yield _node("Concat", [f"{states}-sizes", size], f"{out}-shape", axis=0)
        yield _node("Reshape", [f"{out}-rows", f"{out}-shape"], out)

    def _quantized(self, states: str, width: int) -> Iterator[Any]:
        """States of float32 -> rows of eight bits, and a scale for each."""
        share = self._constant("share", np.float32(1 / _LARGEST))
        smallest = self._constant("smallest", np.float32(_SMALLEST))
        middle = self._constant("middle", np.uint8(_MIDDLE))
        flat = self._constant(f"flat-{width}", np.array([-1, width]))
        zero, last, one = (self._constant(f"int-{n}", np.array([n])) for n in (0, -1, 1))
        yield _node("Shape", [states], f"{states}-shape")
        yield _node("Slice", [f"{states}-shape", zero, last], f"{states}-sizes")
        yield _node("Reshape", [states, flat], f"{states}-flat")
        yield _node("Abs", [f"{states}-flat"], f"{states}-abs")
        yield _node("ReduceMax", [f"{states}-abs"], f"{states}-max", axes=[1], keepdims=0)
        yield _node("Mul", [f"{states}-max", share], f"{states}-share")
        yield _node("Max", [f"{states}-share", smallest], f"{states}-scales")
        yield _node("Shape", [f"{states}-scales"], f"{states}-count")
        yield _node("Expand", [middle, f"{states}-count"], f"{states}-middles")
        inputs = [f"{states}-flat", f"{states}-scales", f"{states}-middles"]
        yield _node("QuantizeLinear", inputs, f"{states}-eight", axis=0)
        yield _node("Unsqueeze", [f"{states}-scales", one], f"{states}-scale")

    def _row_of_table(self, node: Any, table: NDArray[np.float32]) -> Iterator[Any]:  # noqa: ANN401
        if table.size < _EMBEDDINGS or any(each.i for each in node.attribute):  # of another axis
            yield node
            return
        scales = np.maximum(np.abs(table).max(1, keepdims=True) / _LARGEST, _SMALLEST)
        name, at, out = node.input[0], node.input[1], node.output[0]
        rows = self._constant(f"{name}-eight", np.rint(table / scales).astype(np.int8))
        each = self._constant(f"{name}-scales", scales.astype(np.float32))
        yield _node("Gather", [rows, at], f"{out}-eight")
        yield _node("Cast", [f"{out}-eight"], f"{out}-float", to=_float())
        yield _node("Gather", [each, at], f"{out}-scale")
        yield _node("Mul", [f"{out}-float", f"{out}-scale"], out)

    def _constant(self, name: str, value: Any) -> str:  # noqa: ANN401 - array or scalar
        from onnx import numpy_helper

        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name


def _node(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:  # noqa: ANN401
    from onnx import helper

    return helper.make_node(kind, inputs, [output], name=output, **attributes)


def _float() -> int:
    import onnx

    return int(onnx.TensorProto.FLOAT)


@cache
def is_exact() -> bool:
    """Whether this processor multiplies eight bits by eight without loss.

    Those with AVX2 but no VNNI add two products in sixteen bits, and cut what does not fit; seven
    bits of the weights always do.
    """
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    ones = np.full((64, 64), 127, np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["states", "weights"], ["product"])],
        "exact",
        [helper.make_tensor_value_info("states", TensorProto.UINT8, [8, 64])],
        [helper.make_tensor_value_info("product", TensorProto.INT32, [8, 64])],
        [numpy_helper.from_array(ones, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (product,) = session.run(None, {"states": np.full((8, 64), 255, np.uint8)})
    return bool((product == 255 * 127 * 64).all())
