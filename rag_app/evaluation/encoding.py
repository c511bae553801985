"""How quickly documents are encoded, beside plain `SentenceTransformer.encode` of the same windows.

Both are timed in turn in one process, round after round, so that their ratio holds where absolute
times do not. The processor's own limit is measured beside them: square matrix products in float32
and in the encoder's number type, and what share of that rate encoding reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from indexing.documents import Document
from indexing.encoder.encoder import Encoder, EncoderSettings
from indexing.encoder.fingerprint import Recipe
from indexing.errors import InvalidRequest
from indexing.extension.pcw import windows
from indexing.files import Failure, read, walk
from indexing.text.chunking import split
from rag_app.evaluation.memory import peak
from rag_app.progress import counted

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MATRIX = 2048  # rows and columns of the products that measure the processor


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """What was measured; rates are medians over the rounds.

    Attributes:
        recipe: How the encoder worked.
        packed: How many of its layers had their weights laid out once for the processor.
        threads: How many threads computed.
        documents: How many documents a round encodes.
        tokens: Tokens of the windows of a round, special tokens left out.
        rounds: How many rounds.
        tokens_per_second: Of the encoder: document and passage vectors.
        plain_tokens_per_second: Of `SentenceTransformer.encode` as it is by default, in float32 and
            batches of 32: window vectors.
        ratio: Median of the rounds' ratios.
        matrix_gflops: Of square matrix products in the encoder's number type.
        plain_matrix_gflops: In float32.
        share_of_matrix_rate: Floating-point operations of the encoder's weights, per second, over
            `matrix_gflops`.
        peak_memory_mb: Of the whole process so far.
    """

    recipe: Recipe
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
        return {"task": "encoding", **asdict(self)}


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

    found = _documents(data, documents)
    encoder = Encoder(settings, notify=notify)
    plain = _plain(encoder)
    pairs = [(document, split(document)) for document in found]
    texts = [text for document in found for text in _window_texts(encoder, document)]
    tokens = sum(len(encoder.offsets_of(document.text)) for document in found)
    encoder.encode(pairs[:1])  # the first run of a shape prepares kernels
    plain.encode(texts[:32])
    ours, theirs = [], []
    with counted(range(rounds), doing="Encoding") as steps:
        for _ in steps:
            ours.append(_seconds(lambda: encoder.encode(pairs)))
            theirs.append(_seconds(lambda: plain.encode(texts)))
    own, full = _gflops(encoder.recipe.dtype), _gflops("float32")
    rate = tokens / median(ours)
    return EncodingReport(
        recipe=encoder.recipe,
        packed=encoder.packed,
        threads=torch.get_num_threads(),
        documents=len(found),
        tokens=tokens,
        rounds=rounds,
        tokens_per_second=round(rate, 1),
        plain_tokens_per_second=round(tokens / median(theirs), 1),
        ratio=round(median(b / a for a, b in zip(ours, theirs, strict=True)), 3),
        matrix_gflops=round(own, 1),
        plain_matrix_gflops=round(full, 1),
        share_of_matrix_rate=round(rate * _operations(encoder.model) / own / 1e9, 3),
        peak_memory_mb=peak(),
    )


def _documents(data: Path, most: int) -> list[Document]:
    found: list[Document] = []
    for path in walk([data]):
        if not isinstance(path, Failure):
            found += [one for one in read(path) if isinstance(one, Document)]
        if len(found) >= most:
            break
    if not found:
        raise InvalidRequest(f"{data}: no document to encode; name files that rag-app index reads")
    return found[:most]


def _plain(encoder: Encoder) -> SentenceTransformer:
    """The same weights as people load them by default: float32, nothing changed."""
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


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _gflops(dtype: str, *, times: Sequence[int] = range(12)) -> float:
    """Floating-point operations a second, in billions, of square matrix products."""
    import torch

    a = torch.randn(MATRIX, MATRIX).to(getattr(torch, dtype))
    a @ a
    return 2e-9 * MATRIX**3 / median(_seconds(lambda: a @ a) for _ in times)


def _operations(model: SentenceTransformer) -> int:
    """Floating-point operations for one token in the weights' matrix products, 2 a weight."""
    from torch import nn

    layers = (module for module in model.modules() if isinstance(module, nn.Linear))
    return 2 * sum(layer.weight.numel() for layer in layers)
