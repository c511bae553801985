"""The real encoder, loaded once, and the sample documents, indexed once."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Generator, Hashable, Iterator
from copy import copy
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from generator import parts
from generator.attribution import verifier
from generator.evidence import Embed, Vectors
from generator.extractive.context import late_chunking
from generator.lm.causal_lm import CausalModel
from generator.reader import reading
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.files import FileReader
from indexing.models.files import Weights, encoder_weights, generator_weights
from indexing.models.runtime import share_memory
from indexing.models.shared import Shared
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.ingestion import Ingestion
from rag_app.corpus.models import Models, settings_of
from tests.waiting import LONGEST, limited

if TYPE_CHECKING:
    from rag_app.corpus.models import AnyEncoder

# Where tests run in the background, Ctrl-C is ignored, by them and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
LOAD_ENCODER = Models._load  # what `default_encoder_once` and `files_read_in_one_process` replace
OWN_READER = Ingestion.reader
SERVING = Path(__file__).resolve().parent / "rag_app" / "chat"

share_memory()  # or each of the threads that tests start would keep what it needed once


def pytest_configure() -> None:
    """Take Ctrl-C, also where a shell that runs this in the background lets it be ignored.

    Tests send it to themselves and to the programs that they start, which inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while everything is imported, and never again in what is."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with serving, whose files take longest, so that no process works on one alone."""
    items.sort(key=lambda item: SERVING not in item.path.parents)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """End a test that hangs, so that it does not keep the others waiting."""
    if item.get_closest_marker("slow"):
        return (yield)
    with limited(LONGEST):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def loaded_once() -> Iterator[None]:
    """What a test has loaded to read with is there for the next, as for corpora of a process."""
    kept: list[object] = []
    every: tuple[Shared[Any], ...] = (reading.LOADED, late_chunking.LOADED, verifier.LOADED)

    def keep(shared: Shared[Any], key: Hashable, load: Callable[[], object]) -> object:
        kept.append(Shared.of(shared, key, load))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        for shared in every:
            patch.setattr(shared, "of", partial(keep, shared))
        yield


@pytest.fixture(scope="session", autouse=True)
def default_encoder_once() -> Iterator[None]:
    """Corpora that are given no encoder share the weights of one; loading them takes longest."""
    default = cache(Encoder)

    def load(models: Models, settings: EncoderSettings) -> AnyEncoder:
        if settings.model == EncoderSettings().model:
            of_all = default()
            if settings in (EncoderSettings(), settings_of(of_all.fingerprint)):
                return copy(of_all)
        return LOAD_ENCODER(models, settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Models, "_load", load)
        yield


@pytest.fixture(scope="session", autouse=True)
def files_read_in_one_process() -> Iterator[None]:
    """Corpora of the same limits share the process that reads files, which starts slowly."""
    shared = cache(FileReader)

    def reader(ingestion: Ingestion) -> FileReader:
        return shared(ingestion.limits, ingestion.ocr)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ingestion, "reader", property(reader))
        yield


@pytest.fixture(scope="session", autouse=True)
def without_the_larger_reader() -> Iterator[None]:
    """Answers are those of the readers that every development environment has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "has_large", lambda: False)
        yield


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """MiniLM in float32, for comparisons to the last digits; windows of 64 tokens, for many."""
    return Encoder(EncoderSettings(dtype="float32", max_length=64))


@pytest.fixture(scope="session")
def tiny_model() -> CausalModel:
    """A small random language model: what it writes depends on everything it reads."""
    import torch
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=49152, hidden_size=16, intermediate_size=16, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
        initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        inner = transformers.LlamaForCausalLM(config).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(generator_weights().folder)
    return CausalModel(Weights("tiny", Path(), "1", "folder"), inner, tokenizer)


@pytest.fixture(scope="session")
def samples_corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """The documents of data/samples, to be searched and asked; not to be changed."""
    with Corpus(tmp_path_factory.mktemp("samples") / "corpus") as corpus:
        corpus.add(file for file in SAMPLES.iterdir() if file.suffix != ".jsonl")
        yield corpus


@pytest.fixture(scope="session")
def model() -> CausalModel:
    """SmolLM2, converted once into the user's cache folder, in float32 for exact comparison."""
    import torch

    return CausalModel.load(device="cpu", dtype=torch.float32)


@pytest.fixture(scope="session")
def embed() -> Embed:
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(encoder_weights().folder), device="cpu")

    def embedded(texts: list[str]) -> Vectors:
        return np.asarray(encoder.encode(texts, normalize_embeddings=True), dtype=np.float32)

    return embedded
