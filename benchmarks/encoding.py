"""Throughput of the encoder, beside plain `SentenceTransformer.encode` of the same windows.

Both are timed in turn in one process, round after round, so that their ratio holds where absolute
times do not. With another checkout its encoder takes the place of the plain one, each in a process
of its own. The CPU's own limit is measured beside them: square matrix products in float32 and in
the encoder's dtype, and what share of that rate encoding reaches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from benchmarks.checkouts import running, with_checkouts
from benchmarks.latency import clock
from benchmarks.limits import gflops
from benchmarks.memory import max_rss
from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest
from indexing.extension.pcw import windows
from indexing.files import FileReader
from indexing.text.chunking import split
from indexing.walk import Failure, walk
from rag_app.cli.option_types import AnyPath
from rag_app.cli.options import print_result, with_encoder, with_json
from rag_app.progress import track

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PROGRAM = """
import json, sys, time
from pathlib import Path
from benchmarks.encoding import _documents
from indexing.encoder.encoder import Encoder
from indexing.text.chunking import split
encoder = Encoder()
pairs = [(one, split(one)) for one in _documents(Path(sys.argv[1]), int(sys.argv[2]))]
encoder.encode(pairs[:1])
for _ in sys.stdin:
    seconds, cpu = time.perf_counter(), time.process_time()
    found = encoder.encode(pairs)
    took = time.perf_counter() - seconds, time.process_time() - cpu
    vectors = [row.tolist() for one in found for row in (one.vector, *one.passages)]
    print(json.dumps([*took, sum(one.tokens for one in found), vectors]), flush=True)
"""
"""A round for each line: seconds, CPU seconds, tokens and vectors. Any checkout can run it."""


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """What was measured; rates are medians over the rounds.

    Attributes:
        fingerprint: The encoder's fingerprint.
        compiled: How many of its layers run in compiled code.
        packed: How many of its layers have packed weights.
        threads: How many threads computed.
        documents: How many documents a round encodes.
        tokens: Tokens of the windows of a round, special tokens left out.
        rounds: How many rounds.
        tokens_per_second: Of the encoder: document and passage vectors.
        plain_tokens_per_second: Of `SentenceTransformer.encode` as it is by default, in float32 and
            batches of 32: window vectors.
        ratio: Median of the rounds' ratios.
        matrix_gflops: Of square matrix products in the encoder's dtype.
        plain_matrix_gflops: In float32.
        share_of_matrix_rate: Floating-point operations of the encoder's weights, per second, over
            `matrix_gflops`.
        peak_memory_mb: Of the whole process so far.
    """

    fingerprint: Fingerprint
    compiled: int
    packed: int
    threads: int
    documents: int
    tokens: int
    rounds: int
    tokens_per_second: float
    plain_tokens_per_second: float
    ratio: float
    matrix_gflops: float
    plain_matrix_gflops: float
    share_of_matrix_rate: float
    peak_memory_mb: float

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        values = asdict(self)
        return {"task": "encoding", **values}


def evaluate(
    data: Path,
    settings: EncoderSettings,
    *,
    documents: int = 8,
    rounds: int = 5,
    notify: Callable[[str], None] | None = None,
) -> EncodingReport:
    """Measure on the first documents under a path.

    Raises:
        InvalidRequest: No document could be read there.
    """
    import torch

    sources = _documents(data, documents)
    encoder = Encoder(settings, notify=notify)
    plain = _plain(encoder)
    pairs = [(document, split(document)) for document in sources]
    texts = [text for document in sources for text in _window_texts(encoder, document)]
    tokens = sum(len(encoder.offsets_of(document.text)) for document in sources)
    encoder.encode(pairs[:1])  # warm-up: the first run of a shape prepares kernels
    plain.encode(texts[:32])
    ours, theirs = [], []
    with track(range(rounds), doing="Encoding") as steps:
        for _ in steps:
            ours.append(clock(lambda: encoder.encode(pairs)))
            theirs.append(clock(lambda: plain.encode(texts)))
    own, full = gflops(encoder.fingerprint.dtype), gflops("float32")
    rate = tokens / median(ours)
    return EncodingReport(
        fingerprint=encoder.fingerprint,
        compiled=encoder.layers.compiled,
        packed=encoder.layers.packed,
        threads=torch.get_num_threads(),
        documents=len(sources),
        tokens=tokens,
        rounds=rounds,
        tokens_per_second=round(rate, 1),
        plain_tokens_per_second=round(tokens / median(theirs), 1),
        ratio=round(median(b / a for a, b in zip(ours, theirs, strict=True)), 3),
        matrix_gflops=round(own, 1),
        plain_matrix_gflops=round(full, 1),
        share_of_matrix_rate=round(rate * _operations(encoder.model) / own / 1e9, 3),
        peak_memory_mb=max_rss(),
    )


def _documents(data: Path, limit: int) -> list[Document]:
    documents: list[Document] = []
    with FileReader() as reader:
        for path in walk([data]):
            if not isinstance(path, Failure):
                documents += [one for one in reader.read(path) if isinstance(one, Document)]
            if len(documents) >= limit:
                break
    if not documents:
        raise InvalidRequest(f"{data}: no document to encode; name files that rag-app index reads")
    return documents[:limit]


def _plain(encoder: Encoder) -> SentenceTransformer:
    """The same weights as people load them by default: float32, unmodified."""
    import torch
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(
        str(encoder.weights.folder), device=str(encoder.model.device), local_files_only=True
    )
    return plain.to(torch.float32)


def _window_texts(encoder: Encoder, document: Document) -> list[str]:
    """The text of each window of a document."""
    offsets = encoder.offsets_of(document.text)
    return [
        document.text[offsets[start][0] : offsets[end - 1][1]]
        for start, end in windows(len(offsets), encoder.window_tokens)
    ]


def _operations(model: SentenceTransformer) -> int:
    """Floating-point operations for a token in the weights' matrix products: 2 per weight."""
    from torch import nn

    layers = (module for module in model.modules() if isinstance(module, nn.Linear))
    return 2 * sum(layer.weight.numel() for layer in layers)


def compare(
    checkouts: Mapping[str, Path], data: Path, *, documents: int, rounds: int
) -> list[dict[str, object]]:
    """The packaged encoder of each checkout, in turn: a row for each.

    Rates are of the best round, CPU time is of all threads.
    """
    import numpy as np

    took: dict[str, list[tuple[float, float]]] = {name: [] for name in checkouts}
    vectors: dict[str, object] = {}
    tokens, rates = 0, []
    operations = _operations(Encoder().model)
    with ExitStack() as stack:
        programs = {
            name: stack.enter_context(running(tree, PROGRAM, str(data.resolve()), str(documents)))
            for name, tree in checkouts.items()
        }
        for number in range(rounds):
            for name in sorted(checkouts, reverse=bool(number % 2)):
                given, answered = programs[name]
                given.write("\n")
                given.flush()
                seconds, cpu, tokens, vectors[name] = json.loads(answered.readline())
                took[name].append((seconds, cpu))
            rates.append(gflops("bfloat16", pick=min))
    first = np.array(next(iter(vectors.values())))
    rows: list[dict[str, object]] = []
    for name, each in took.items():
        rate = tokens / min(seconds for seconds, _ in each)
        cosines = np.einsum("vd,vd->v", first, np.array(vectors[name]))
        rows.append(
            {
                "checkout": name,
                "tokens_per_second": round(rate),
                "cpu_us_per_token": round(1e6 * min(cpu for _, cpu in each) / tokens, 1),
                "share_of_matrix_rate": round(rate * operations / max(rates) / 1e9, 3),
                "least_cosine_with_first": round(float(cosines.min()), 5),
            }
        )
    return [*rows, {"matrix_gflops": round(max(rates)), "tokens": tokens, "rounds": rounds}]


@click.command
@click.option("--data", type=AnyPath, required=True, help="Files that can be indexed, or a folder.")
@click.option("--documents", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
@with_encoder
@with_checkouts
@with_json
def command(
    data: Path,
    documents: int,
    rounds: int,
    checkouts: Mapping[str, Path],
    encoder: EncoderSettings | None,
    as_json: bool,
) -> None:
    """Tokens encoded per second, beside plain SentenceTransformer.encode or another checkout."""
    if "before" in checkouts:
        rows = compare(checkouts, data, documents=documents, rounds=rounds)
        shown = "\n".join(line for row in rows for line in (*map(_line, row.items()), ""))
        print_result(as_json, {"task": "encoding", "rows": rows}, lambda: click.echo(shown))
        return
    settings = encoder or EncoderSettings()
    notify = partial(click.echo, err=True)
    report = evaluate(data, settings, documents=documents, rounds=rounds, notify=notify)
    values = report.as_dict()
    print_result(as_json, values, lambda: click.echo("\n".join(map(_line, values.items()))))


def _line(item: tuple[str, object]) -> str:
    name, value = item
    if isinstance(value, dict):
        value = ", ".join(f"{key} {each}" for key, each in value.items())
    return f"{name:22} {value}"
