"""Windows: where they lie, what they hold, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from indexing.errors import InvalidRequest
from indexing.extension import ParallelWindows, extend, restore
from indexing.extension.pcw import windows
from tests.indexing.extension.extension_models import CAUSAL, CONFIGS, WINDOW, build, ids_of, text
from tests.indexing.extension.extension_oracle import Array, Oracle, Setting

Models = dict[str, SentenceTransformer]

LONG = 150


@given(st.integers(0, 400), st.integers(1, 60))
def test_windows_cover_everything_and_are_full(n: int, size: int) -> None:
    found = windows(n, size)
    assert sorted({i for start, end in found for i in range(start, end)}) == list(range(n))
    assert all(end - start == min(size, n) for start, end in found)
    assert all(start == number * size for number, (start, _) in enumerate(found[:-1]))
    assert len(found) == -(-n // size)


def test_the_last_window_is_taken_from_the_end() -> None:
    assert windows(10, 4) == [(0, 4), (4, 8), (6, 10)]
    assert windows(8, 4) == [(0, 4), (4, 8)]
    assert windows(3, 4) == [(0, 3)]
    assert windows(0, 4) == []
    with pytest.raises(InvalidRequest, match="no room"):
        windows(5, 0)


def pooled(oracle: Oracle, ids: list[int], *, causal: bool) -> Array:
    hidden = oracle.states(ids, Setting())
    return hidden[-1] if causal else hidden.mean(axis=0)


def naive(oracle: Oracle, text_ids: list[int], frame: tuple[list[int], list[int]]) -> Array:
    """The mean of the unnormalised window vectors."""
    head, tail = frame
    size = WINDOW - len(head) - len(tail)
    starts = list(range(0, len(text_ids), size))
    if len(text_ids) > size:
        starts[-1] = len(text_ids) - size
    vectors = [
        pooled(oracle, head + text_ids[start : start + size] + tail, causal=not head)
        for start in starts
    ]
    return np.mean(vectors, axis=0)


def unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("family", CONFIGS)
def test_values(models: Models, oracles: dict[str, Oracle], family: str) -> None:
    model = models[family]
    texts = [text(words) for words in (1, 29, 30, 31, 32, 60, 61, 100, 140)]
    frame = ([], [2]) if family in CAUSAL else ([0], [2])
    with ParallelWindows(max_length=LONG, batch_size=3)(model):
        got = model.encode(texts, batch_size=4)
        alone = model.encode(texts[-1])
    for vector, words in zip(got, texts, strict=True):
        ids = ids_of(model, words)[len(frame[0]) : -1]
        np.testing.assert_allclose(vector, unit(naive(oracles[family], ids, frame)), atol=1e-5)
    np.testing.assert_allclose(alone, got[-1], atol=1e-6)


def test_prefix_in_every_window(models: Models, oracles: dict[str, Oracle]) -> None:
    model, words = models["bert"], text(100)
    with ParallelWindows(max_length=LONG)(model):
        got = model.encode([words, text(2)], prompt="w7 w8 ")[0]
    ids = ids_of(model, words)[1:-1]
    prefix = ids_of(model, "w7 w8")[:-1]
    np.testing.assert_allclose(got, unit(naive(oracles["bert"], ids, (prefix, [2]))), atol=1e-5)


def test_a_prompt_that_melts_into_the_text(tmp_path: Path) -> None:
    """With byte-level tokens the prompt's last space belongs to the first word."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = ["Ġ", *"abcdefghij:", "Ġa", "Ġb", "Ġc"]
    merges = [("Ġ", "a"), ("Ġ", "b"), ("Ġ", "c")]
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2}
    vocabulary |= {letter: 3 + index for index, letter in enumerate(letters)}
    inner = Tokenizer(models.BPE(vocabulary, merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    model = build("bert", tmp_path)
    model[0].processor = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", cls_token="<s>", sep_token="</s>"
    )
    model.max_seq_length = WINDOW
    words = " ".join("abcab" * 12)
    with ParallelWindows(max_length=LONG)(model):
        got = model.encode([words], prompt="de: ")[0]
    ids = ids_of(model, "de: " + words)
    assert ids[1:4] == [vocabulary[letter] for letter in "de:"]
    expected = naive(Oracle(model[0].auto_model), ids[4:-1], (ids[:4], [2]))
    np.testing.assert_allclose(got, unit(expected), atol=1e-5)


def test_queries_are_cut_and_not_windowed(models: Models) -> None:
    model, words = models["bert"], text(100)
    model.prompts = {"query": "w9 ", "document": ""}
    untouched = model.encode_query([words])
    extend(model, "pcw", max_length=LONG)
    np.testing.assert_array_equal(model.encode_query([words]), untouched)
    np.testing.assert_array_equal(model.encode([words], prompt_name="query"), untouched)
    assert np.abs(model.encode_document([words]) - untouched).max() > 1e-3
    restore(model)
    model.prompts = {}


def test_empty_texts_are_refused(models: Models) -> None:
    model = models["bert"]
    for words, prompt in (("", None), ("  \n", None), ("", "w1 ")):
        with (
            pytest.raises(InvalidRequest, match="text 1 of the batch is empty"),
            ParallelWindows(max_length=LONG)(model),
        ):
            model.encode(["w1 w2", words], prompt=prompt)


def test_a_prefix_that_fills_the_window(models: Models) -> None:
    with (
        pytest.raises(InvalidRequest, match="no room"),
        ParallelWindows(max_length=LONG)(models["bert"]),
    ):
        models["bert"].encode([text(40)], prompt=text(30) + " ")


def test_options_of_encode(models: Models) -> None:
    model, texts = models["bert"], [text(100), text(3), text(70)]
    extend(model, "pcw", max_length=LONG)
    vectors = model.encode(texts)
    np.testing.assert_array_equal(model.encode(texts, truncate_dim=8), vectors[:, :8])
    assert model.encode(texts, convert_to_tensor=True).shape == (3, 32)
    restore(model)


def test_without_normalising(tmp_path: Path, oracles: dict[str, Oracle]) -> None:
    whole = build("bert", tmp_path)
    model = SentenceTransformer(modules=[whole[0], whole[1]], device="cpu")
    words = text(100)
    with ParallelWindows(max_length=LONG)(model):
        got = model.encode([words])[0]
        normal = model.encode([words], normalize_embeddings=True)[0]
    expected = naive(oracles["bert"], ids_of(model, words)[1:-1], ([0], [2]))
    assert abs(np.linalg.norm(expected) - 1) > 1e-2
    np.testing.assert_allclose(got, expected, atol=1e-5)
    np.testing.assert_allclose(normal, unit(expected), atol=1e-5)
