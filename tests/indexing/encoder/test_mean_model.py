"""The packaged encoder without sentence-transformers gives what it gives with it, bit for bit."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.mean_model import MeanModel
from indexing.encoder.settings import EncoderSettings
from indexing.errors import MissingDependency
from indexing.files import document
from indexing.models.files import encoder_weights
from indexing.text.chunking import split

TEXT = "The committee met in Ellmere on Tuesday and lowered the price of probes. " * 60
QUERIES = ("Who met in Ellmere?", "probes", "Why was the price of probes lowered on Tuesday?")


def vectors(encoder: Encoder) -> list[np.ndarray]:
    """Of a document of several windows, its passages, and queries."""
    one = document(TEXT, name="text")
    (encoded,) = encoder.encode([(one, split(one))])
    return [encoded.vector, encoded.passages, encoder.encode_queries(QUERIES)]


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    """The packaged encoder as a folder, which sentence-transformers loads."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(encoder_weights().folder, Path(folder) / "copy"))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_vectors_are_those_of_sentence_transformers(copy: Path, dtype: str) -> None:
    packaged = Encoder(EncoderSettings(dtype=dtype))
    library = Encoder(EncoderSettings(model=str(copy), dtype=dtype))
    assert isinstance(packaged.model, MeanModel) and not isinstance(library.model, MeanModel)
    assert packaged.layers == library.layers
    assert packaged.fingerprint.pooling == library.fingerprint.pooling
    assert packaged.max_length == library.max_length
    for ours, theirs in zip(vectors(packaged), vectors(library), strict=True):
        assert np.array_equal(ours, theirs)


def test_neither_encoding_nor_asking_imports_the_library() -> None:
    program = (
        "import sys\n"
        "sys.modules['sentence_transformers'] = None\n"  # as if it were not installed
        "from indexing.encoder.encoder import Encoder\n"
        "print(Encoder().encode_queries(['Who met?']).shape)\n"
        "print(sorted({'sklearn', 'datasets', 'pandas'} & {*sys.modules}))\n"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(1, 384)", "[]"]


def test_another_encoder_names_what_to_install(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingDependency, match=r'pip install "rag-app\[hub\]"'):
        Encoder(EncoderSettings(model=str(copy)))
