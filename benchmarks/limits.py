"""What this machine can do at most: what the figures of docs/notebook/performance.md stand beside.

Reading memory, matrix products, and starting Python with what a command cannot do without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import median

import click

from benchmarks.checkouts import ROOT, run
from benchmarks.latency import clock
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid

MATRIX = 2048  # rows and columns of the products that measure the CPU
ARRAY = 1 << 30  # bytes that are read: more than the caches hold, of most machines
DTYPES = ("float32", "bfloat16")
STARTS = {
    "Python": "pass",
    "with click, SQLite, NumPy": "import click, sqlite3, numpy",
    "and FAISS, ONNX Runtime, tokenizers": (
        "import click, sqlite3, numpy, faiss, onnxruntime, tokenizers"
    ),
    "with torch": "import torch",
    "with torch, transformers' BERT": (
        "import torch; from transformers.models.bert.modeling_bert import BertModel"
    ),
    "with sentence-transformers": "import sentence_transformers",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """One figure.

    Attributes:
        of: What is measured.
        threads: How many work on it.
        value: The best of several times.
        unit: "GB/s", "GFLOP/s" or "CPU s".
    """

    of: str
    threads: int
    value: float
    unit: str


@click.command
@with_json
def command(as_json: bool) -> None:
    """Memory, matrix products, and the start of Python: what this machine can do at most."""
    limits = [*measure()]
    rows = [[each.of, str(each.threads), f"{each.value:,.2f} {each.unit}"] for each in limits]
    print_result(
        as_json,
        {"task": "limits", "limits": [asdict(each) for each in limits]},
        lambda: click.echo(grid(["", "threads", ""], rows)),
    )


def measure() -> Iterator[Limit]:
    """Every limit, for one thread and for all cores."""
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        with _threads(threads):
            yield Limit("reading memory", threads, round(gigabytes(), 2), "GB/s")
            for dtype in DTYPES:
                value = round(gflops(dtype, pick=min), 1)
                yield Limit(f"matrix products, {dtype}", threads, value, "GFLOP/s")
    for name, program in STARTS.items():
        least = min(run([sys.executable, "-c", program], ROOT).cpu for _ in range(3))
        yield Limit(f"start: {name}", 1, round(least, 2), "CPU s")


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """PyTorch with so many threads, inside the block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def gigabytes(*, times: Sequence[int] = range(5)) -> float:
    """Billions of bytes a second that PyTorch reads and adds up."""
    import torch

    array = torch.ones(ARRAY // 4)
    return 1e-9 * ARRAY / min(clock(array.sum) for _ in times)


def gflops(
    dtype: str,
    *,
    times: Sequence[int] = range(12),
    pick: Callable[[Iterator[float]], float] = median,
) -> float:
    """Billions of floating-point operations per second of square matrix products.

    Args:
        dtype: Of the matrices.
        times: One entry for each time that they are multiplied.
        pick: Which of the times counts.
    """
    import torch

    a = torch.randn(MATRIX, MATRIX).to(getattr(torch, dtype))
    a @ a
    return 2e-9 * MATRIX**3 / pick(clock(lambda: a @ a) for _ in times)
