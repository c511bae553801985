"""Checks the GPU: the same answers as the CPU, and how much sooner they come.

usage: python tools/gpu_check.py [--vectors 200000] [--depth 2048] [--queries 50]

Vectors need numpy and a FAISS that knows GPUs; the encoder needs torch with CUDA and the packaged
model. What is missing is named and skipped. Exit status: 0 all that was compared agrees; 1
something does not; 2 there is no GPU, or FAISS cannot use it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for a machine on which the project is not installed

from benchmarks.synthetic_corpus import SyntheticCorpus  # noqa: E402
from indexing.errors import RagAppError  # noqa: E402
from indexing.index.dense.faiss_index import GPU_DEPTH, FaissIndex, require_faiss  # noqa: E402

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Made = TypeVar("Made")

SCORES_WITHIN = 1e-5  # float32 sums of 384 products in another order
POSITIONS_SHARED = 0.999  # neighbours of equal score may change places, or fall off the end
COSINE_AT_LEAST = 0.999  # of vectors encoded in bfloat16 by different kernels
NO_GPU = "gpu-check: there is no GPU here that torch or FAISS can use, so nothing was checked."


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two searches find the same.

    Attributes:
        positions: Share of neighbours that both found.
        scores: Greatest difference between scores of the same rank.
    """

    positions: float
    scores: float

    @classmethod
    def of(cls, one: tuple[FloatArray, IntArray], other: tuple[FloatArray, IntArray]) -> Agreement:
        """Of scores (q, k) and positions (q, k), best first."""
        pairs = zip(one[1], other[1], strict=True)
        shared = [len(np.intersect1d(a, b)) / len(a) for a, b in pairs]
        return cls(float(np.mean(shared)), float(np.abs(one[0] - other[0]).max()))

    def __bool__(self) -> bool:
        return self.positions >= POSITIONS_SHARED and self.scores <= SCORES_WITHIN


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what can be checked; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vectors", type=int, default=200_000)
    parser.add_argument("--depth", type=int, default=GPU_DEPTH)
    parser.add_argument("--queries", type=int, default=50)
    options = parser.parse_args(arguments)
    cuda, faiss = _torch_gpu(), _faiss_gpus()
    if not cuda and not faiss:
        print(NO_GPU)
        return 2
    print(f"GPU: {cuda or 'not visible to torch'}; FAISS sees {faiss}")
    checked = []
    if faiss:
        checked.append(check_vectors(options.vectors, options.depth, options.queries))
    else:
        print('vectors: skipped, FAISS has no GPU here; pip install "rag-app[gpu]"')
    if cuda:
        checked.append(check_shard(options.vectors, options.queries))
        try:
            checked.append(check_encoder())
        except (RagAppError, ImportError) as error:
            print(f"encoder: skipped; {error}")
    if not all(checked):
        return 1
    return 0 if faiss else 2


def check_vectors(count: int, depth: int, queries: int) -> bool:
    """Every product on the CPU, codes on the CPU, every product on the GPU."""
    corpus = SyntheticCorpus.of(count)
    vectors = np.concatenate(list(corpus.vectors()))
    places = np.random.default_rng(0).integers(0, count, queries)
    sample = [each.vectors for each in corpus.queries(vectors[places], places)]
    flat, flat_seconds = timed(lambda: FaissIndex.build(vectors, flat_below=count + 1))
    large, large_seconds = timed(lambda: FaissIndex.build(vectors, flat_below=0))
    _, gpu_seconds = timed(lambda: large.search(sample[0], depth))
    if not large.on_gpu:
        print(f"vectors: the GPU has no room for {count:,} vectors; ask for fewer: --vectors")
        return False
    everything = np.concatenate(sample)
    agreement = Agreement.of(flat.search(everything, depth), large.search(everything, depth))
    print(
        f"vectors: {count:,}, the {depth:,} nearest; positions shared {agreement.positions:.2%}, "
        f"scores differ by {agreement.scores:.1e}: {'ok' if agreement else 'DIFFERS'}\n"
        f"  CPU, flat        built in {flat_seconds:6.2f} s, "
        f"{search_ms(flat, sample, depth):8.2f} ms a query of three texts\n"
        f"  GPU, flat        built in {large_seconds + gpu_seconds:6.2f} s, codes included, "
        f"{search_ms(large, sample, depth):8.2f} ms"
    )
    return bool(agreement)


def check_shard(count: int, queries: int, *, device: str = "cuda") -> bool:
    """Every product of a shard's vectors, on the CPU and on the GPU, or another device."""
    corpus = SyntheticCorpus.of(count)
    vectors = np.concatenate(list(corpus.vectors()))
    places = np.linspace(0, count - 1, queries).astype(np.int64)
    sample = [each.vectors for each in corpus.queries(vectors[places], places)]
    here = FaissIndex.build(vectors, flat_below=count + 1)
    try:
        there, seconds = timed(lambda: here.on(device))
    except RagAppError as error:
        print(f"shard: {error}")
        return False
    pairs = [(here.products(each), there.products(each)) for each in sample]
    apart = max(float(np.abs(one - other).max()) for one, other in pairs)
    times = [
        median(timed(partial(index.products, each))[1] for each in sample) * 1000
        for index in (here, there)
    ]
    print(
        f"shard: all products with {count:,} vectors; they differ by {apart:.1e}: "
        f"{'ok' if apart <= SCORES_WITHIN else 'DIFFERS'}\n"
        f"  CPU       {times[0]:8.2f} ms a query of three texts\n"
        f"  GPU       {times[1]:8.2f} ms, vectors sent in {seconds:.2f} s"
    )
    return apart <= SCORES_WITHIN


def check_encoder() -> bool:
    """The sample documents on both, by the default encoder."""
    from indexing.documents import Document
    from indexing.encoder.encoder import Encoder
    from indexing.encoder.settings import EncoderSettings
    from indexing.files import FileReader
    from indexing.text.chunking import split
    from indexing.walk import Failure, walk

    paths = [path for path in walk([ROOT / "data" / "samples"]) if not isinstance(path, Failure)]
    with FileReader() as reader:
        entries = [one for path in paths for one in reader.read(path)]
    documents = [one for one in entries if isinstance(one, Document)]
    pairs = [(document, split(document)) for document in documents]
    encoded, rates = [], []
    for device in ("cpu", "cuda"):
        encoder = Encoder(EncoderSettings(device=device))
        encoder.encode(pairs[:1])  # the first run of a shape prepares kernels
        made, seconds = timed(partial(encoder.encode, pairs))
        encoded.append(np.concatenate([each.passages for each in made]))
        rates.append(sum(each.tokens for each in made) / seconds)
    cosine = float((encoded[0] * encoded[1]).sum(axis=1).min())
    print(
        f"encoder: {len(documents)} documents, {len(encoded[0])} passages; least cosine "
        f"{cosine:.5f}: {'ok' if cosine >= COSINE_AT_LEAST else 'DIFFERS'}\n"
        f"  CPU       {rates[0]:10,.0f} tokens a second\n"
        f"  GPU       {rates[1]:10,.0f} tokens a second"
    )
    return cosine >= COSINE_AT_LEAST


def search_ms(index: FaissIndex, sample: Sequence[FloatArray], depth: int) -> float:
    """Median milliseconds of a query."""
    index.search(sample[0], depth)
    return median(timed(partial(index.search, each, depth))[1] for each in sample) * 1000


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """What the work makes, and its seconds."""
    started = perf_counter()
    made = work()
    return made, perf_counter() - started


def _torch_gpu() -> str:
    """The name of the GPU that torch sees; empty where it sees none."""
    try:
        import torch
    except ImportError:
        return ""
    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else ""


def _faiss_gpus() -> int:
    """How many GPUs FAISS can use."""
    try:
        faiss = require_faiss()
    except RagAppError:
        return 0
    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


if __name__ == "__main__":
    sys.exit(main())
