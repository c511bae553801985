"""Vectors against a loop over windows that is written with nothing but transformers."""

from __future__ import annotations

import json
import random
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense
from transformers import AutoModel, AutoTokenizer

from indexing.documents import Document, Passage
from indexing.encoder import tokenizer as tokens
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest, ModelError, UnsupportedModel
from indexing.extension import extend, restore
from indexing.files import document
from indexing.models.files import encoder_weights
from indexing.text.chunking import split

FloatArray = npt.NDArray[np.float32]
Job = tuple[Document, list[Passage]]

TALK = """
the committee met in Ellmere on Tuesday and agreed to lower the price of probes because suppliers
had warned that titanium would cost more next spring unless someone ordered early
"""


def text_of(words: int, *, seed: int = 0) -> str:
    """Sentences of a dozen words, from a seed."""
    chosen = random.Random(seed).choices(TALK.split(), k=words)
    rows = [chosen[at : at + 12] for at in range(0, words, 12)]
    return " ".join(" ".join(row).capitalize() + "." for row in rows)


def job(text: str, *, words: int = 40, name: str = "text") -> Job:
    """A document with passages of about so many words."""
    one = document(text, name=name)
    return one, split(one, words=words, longest=words * 4 // 3)


class Naive:
    """Windows one by one, without batches."""

    def __init__(self, folder: Path, *, max_length: int) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.size = max_length - 2

    def states(self, ids: Sequence[int]) -> FloatArray:
        """(tokens + 2, d): the last hidden states of a window, [CLS] and [SEP] at its ends."""
        framed = [self.tokenizer.cls_token_id, *ids, self.tokenizer.sep_token_id]
        with torch.inference_mode():
            hidden = self.model(input_ids=torch.tensor([framed])).last_hidden_state
        return np.asarray(hidden[0].numpy())

    def encode(self, text: str, passages: Sequence[Passage]) -> tuple[FloatArray, FloatArray]:
        """The document's vector, and those of its passages."""
        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = found["input_ids"], found["offset_mapping"]
        starts = list(range(0, len(ids), self.size))
        if len(ids) > self.size:
            starts[-1] = len(ids) - self.size
        pooled, seen = [], defaultdict(list)
        for start in starts:
            states = self.states(ids[start : start + self.size])
            pooled.append(states.mean(axis=0))
            for at, state in enumerate(states[1:-1]):
                seen[start + at].append(state)
        tokens_of = [
            [at for at, (a, b) in enumerate(offsets) if a < p.end and b > p.start] for p in passages
        ]
        rows = [np.mean([np.mean(seen[at], axis=0) for at in some], axis=0) for some in tokens_of]
        return unit(np.mean(pooled, axis=0)), unit(np.stack(rows))


def unit(rows: npt.NDArray[np.floating]) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def folder() -> Path:
    return encoder_weights().folder


@pytest.fixture(scope="module")
def naive(folder: Path) -> Naive:
    return Naive(folder, max_length=64)


@pytest.fixture(scope="module")
def plain(folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device="cpu")


@pytest.fixture(scope="module")
def brain() -> Encoder:
    """The same in bfloat16."""
    return Encoder(EncoderSettings(dtype="bfloat16", max_length=64))


def copy_of(folder: Path, to: Path) -> Path:
    """A model's folder again, its weights by a link."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("*.safetensors"))
    (to / "model.safetensors").symlink_to(folder / "model.safetensors")
    return to


# ---- windows ----


@pytest.mark.parametrize("words", [1, 30, 61, 130, 400])
def test_vectors_are_those_of_the_windows(words: int, encoder: Encoder, naive: Naive) -> None:
    one, passages = job(text_of(words))
    (encoded,) = encoder.encode([(one, passages)])
    whole, parts = naive.encode(one.text, passages)
    np.testing.assert_allclose(encoded.vector, whole, atol=2e-6)
    np.testing.assert_allclose(encoded.passages, parts, atol=2e-6)
    assert encoded.vector.dtype == encoded.passages.dtype == np.float32
    assert encoded.tokens == encoded.encoded == len(naive.tokenizer(one.text)["input_ids"]) - 2


@pytest.mark.parametrize("tokens_over", [0, 1])
def test_a_window_more_begins_with_the_first_token_over(
    tokens_over: int, encoder: Encoder, naive: Naive
) -> None:
    """These words are one token each, so the text is just as long as a window, or longer."""
    words = ["price", "on", "spring", "lower", "next", "ordered", "met", "cost", "agreed", "early"]
    one, passages = job(" ".join((words * 7)[: 62 + tokens_over]), words=30)
    (encoded,) = encoder.encode([(one, passages)])
    assert encoded.tokens == 62 + tokens_over
    np.testing.assert_allclose(encoded.vector, naive.encode(one.text, passages)[0], atol=2e-6)
    single = unit(naive.states(naive.tokenizer(one.text)["input_ids"][1:63]).mean(axis=0))
    assert np.allclose(encoded.vector, single, atol=2e-6) is (tokens_over == 0)


def test_bfloat16_is_close(brain: Encoder, encoder: Encoder, naive: Naive) -> None:
    one, passages = job(text_of(300))
    (low,), (high,) = brain.encode([(one, passages)]), encoder.encode([(one, passages)])
    whole, parts = naive.encode(one.text, passages)
    for vector, exact in ((low.vector, high.vector), (low.vector, whole)):
        assert vector @ exact > 0.999
    assert (low.passages * high.passages).sum(axis=1).min() > 0.999
    assert (low.passages * parts).sum(axis=1).min() > 0.999
    np.testing.assert_allclose(np.linalg.norm(low.passages, axis=1), 1, atol=1e-6)
    assert brain.fingerprint.dtype == "bfloat16" and encoder.fingerprint.dtype == "float32"


def test_rotary_frequencies_keep_their_precision(brain: Encoder) -> None:
    """Only parameters change their dtype: buffers hold angles, and eight bits are too few."""
    assert {p.dtype for p in brain.model.parameters()} == {torch.bfloat16}
    assert torch.bfloat16 not in {b.dtype for b in brain.model.buffers()}


@pytest.mark.parametrize("precision", ["encoder", "brain"])
def test_company_changes_no_bit(precision: str, request: pytest.FixtureRequest) -> None:
    made: Encoder = request.getfixturevalue(precision)
    jobs = [job(text_of(n, seed=n)) for n in (1, 3, 3, 70, 200, 200, 500)]
    together = made.encode(jobs)
    for alone, shared in zip([made.encode([one])[0] for one in jobs], together, strict=True):
        assert np.array_equal(alone.vector, shared.vector)
        assert np.array_equal(alone.passages, shared.passages)


def test_none_cuts_and_says_so(folder: Path, naive: Naive) -> None:
    cut = Encoder(EncoderSettings(extension="none", dtype="float32", max_length=64))
    one, passages = job(text_of(300))
    (encoded,) = cut.encode([(one, passages)])
    ids = naive.tokenizer(one.text, add_special_tokens=False)["input_ids"]
    states = naive.states(ids[:62])
    assert (encoded.tokens, encoded.encoded) == (len(ids), 62)
    np.testing.assert_allclose(encoded.vector, unit(states.mean(axis=0)), atol=2e-6)
    assert np.linalg.norm(encoded.passages[0]) == pytest.approx(1)
    assert not encoded.passages[-1].any()


def test_progress_counts_tokens(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexing.encoder.encoder.TOKENS_PER_BATCH", 130)
    track: list[int] = []
    long, short = encoder.encode([job(text_of(400)), job(text_of(10))], progress=track.append)
    assert track[:-1] == [124] * (len(track) - 3) + track[-3:-1]  # two windows at a time
    assert track[-1] == short.tokens
    assert 0 <= sum(track) - long.tokens - short.tokens < 62  # the last window overlaps


# ---- against sentence-transformers ----


def test_short_texts_are_as_in_sentence_transformers(
    encoder: Encoder, plain: SentenceTransformer
) -> None:
    texts = [text_of(n, seed=n) for n in (1, 7, 20, 38)]
    vectors = np.stack([one.vector for one in encoder.encode([job(text) for text in texts])])
    np.testing.assert_allclose(vectors, plain.encode(texts), atol=1e-5)


def test_queries_are_as_in_sentence_transformers(
    encoder: Encoder, plain: SentenceTransformer
) -> None:
    texts = [
        "Who?",
        "",
        "Why was it cut?",
        "Who then?",
        text_of(38),
        "Ärger, naïve — 東京 \U0001f600",
    ]
    np.testing.assert_allclose(encoder.encode_queries(texts), plain.encode(texts), atol=1e-5)
    assert encoder.encode_queries([]).shape == (0, 384)


@pytest.mark.parametrize("precision", ["encoder", "brain"])
def test_a_query_does_not_depend_on_its_company(
    precision: str, request: pytest.FixtureRequest
) -> None:
    encoder = request.getfixturevalue(precision)
    texts = [text_of(words, seed=words) for words in (*range(1, 40), 90)] * 2
    together = encoder.encode_queries(texts)
    alone = np.vstack([encoder.encode_queries([text]) for text in texts[: len(texts) // 2]])
    assert np.array_equal(together, np.vstack([alone, alone]))
    assert np.array_equal(encoder.encode_queries(texts[::-1])[::-1], together)


def test_a_long_query_is_cut_like_there(encoder: Encoder, folder: Path) -> None:
    plain = SentenceTransformer(str(folder), device="cpu")
    plain.max_seq_length = 64
    query = text_of(200)
    np.testing.assert_allclose(encoder.encode_queries([query]), plain.encode([query]), atol=1e-5)


def test_prompts_go_before_every_window(folder: Path, tmp_path: Path) -> None:
    prompts = {"query": "search_query: ", "document": "search_document: "}
    own = copy_of(folder, tmp_path / "model")
    (own / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    model = Encoder(EncoderSettings(model=str(own), dtype="float32", max_length=64))
    plain = SentenceTransformer(str(own), device="cpu")
    assert plain.prompts["query"] == prompts["query"]
    text = "The probe fell into the lake."
    whole = plain.encode_document([text])
    np.testing.assert_allclose(model.encode([job(text)])[0].vector, whole[0], atol=1e-5)
    np.testing.assert_allclose(model.encode_queries([text]), plain.encode_query([text]), atol=1e-5)
    naive = Naive(folder, max_length=64)
    prompt = naive.tokenizer(prompts["document"], add_special_tokens=False)["input_ids"]
    long = text_of(100)
    ids = naive.tokenizer(long, add_special_tokens=False)["input_ids"]
    size = 62 - len(prompt)
    assert size < len(ids) < 2 * size
    windows = [[*prompt, *ids[:size]], [*prompt, *ids[-size:]]]
    mean = np.mean([naive.states(window).mean(axis=0) for window in windows], axis=0)
    np.testing.assert_allclose(model.encode([job(long)])[0].vector, unit(mean), atol=2e-6)


def test_a_prompt_that_is_not_pooled(folder: Path, tmp_path: Path) -> None:
    own = copy_of(folder, tmp_path / "model")
    prompts = {"query": "Represent the question: ", "document": "Represent the text: "}
    (own / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    pooling = json.loads((own / "1_Pooling" / "config.json").read_text())
    (own / "1_Pooling" / "config.json").write_text(json.dumps({**pooling, "include_prompt": False}))
    model = Encoder(EncoderSettings(model=str(own), dtype="float32"))
    plain = SentenceTransformer(str(own), device="cpu")
    text = "The probe fell into the lake."
    (vector,) = plain.encode_document([text])
    np.testing.assert_allclose(model.encode([job(text)])[0].vector, vector, atol=1e-5)
    np.testing.assert_allclose(model.encode_queries([text]), plain.encode_query([text]), atol=1e-5)


def test_passages_go_through_the_layers_after_pooling(folder: Path, tmp_path: Path) -> None:
    """Passage vectors must lie where query vectors do, here in 16 dimensions."""
    torch.manual_seed(0)
    plain = SentenceTransformer(str(folder), device="cpu")
    dense = Dense(384, 16)
    plain = SentenceTransformer(modules=[plain[0], plain[1], dense, plain[2]], device="cpu")
    plain.save(str(tmp_path / "model"))
    model = Encoder(EncoderSettings(model=str(tmp_path / "model"), dtype="float32"))
    text = "The probe fell into the lake."
    one, passages = job(text)
    (encoded,) = model.encode([(one, passages)])
    assert model.fingerprint.dimension == 16 and encoded.passages.shape == (1, 16)
    np.testing.assert_allclose(encoded.vector, plain.encode([text])[0], atol=1e-5)
    states = plain.encode([text], output_value="token_embeddings")[0][1:-1]
    with torch.inference_mode():
        (row,) = dense({"sentence_embedding": states.mean(dim=0, keepdim=True)}).values()
    np.testing.assert_allclose(encoded.passages, unit(row.numpy()), atol=1e-5)


# ---- hostile and odd text ----


def test_special_tokens_in_a_text_are_text(encoder: Encoder, naive: Naive) -> None:
    ids, offsets = encoder._tokens.ids("stop [SEP] go [CLS] [MASK] [PAD]")
    control = set(naive.tokenizer.all_special_ids)
    assert len(ids) > 8 and not control & set(ids.tolist())
    assert offsets[0].tolist() == [0, 4]
    twice = encoder.encode_queries(["stop [SEP] go", "stop sep go"])
    assert twice[0] @ twice[1] < 0.999


@pytest.mark.parametrize("text", ["\u200b\u200b", "\x01", "..."])
def test_a_text_without_words_gets_a_vector(text: str, encoder: Encoder) -> None:
    """The tokenizer drops control characters; that must not stop the documents beside it."""
    empty, sound = job(text), job("a probe")
    first, second = encoder.encode([empty, sound])
    assert np.linalg.norm(first.vector) == pytest.approx(1)
    assert np.isfinite(first.passages).all()
    assert np.array_equal(second.vector, encoder.encode([sound])[0].vector)


def test_lone_surrogates_are_read(encoder: Encoder) -> None:
    vectors = encoder.encode_queries(["\ud800 probe", "\ufffd probe"])
    assert np.allclose(vectors[0], vectors[1], atol=1e-5)  # rows of one batch round differently


def test_a_long_text_is_tokenised_in_stretches(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(2000) + "x" * 900 + text_of(200)
    whole = encoder._tokens.ids(text[:9000])
    monkeypatch.setattr(tokens, "STRETCH", 500)
    pieces = encoder._tokens.ids(text[:9000])
    assert np.array_equal(whole[0], pieces[0]) and np.array_equal(whole[1], pieces[1])
    ids, offsets = encoder._tokens.ids(text)  # with a word that is longer than a stretch
    assert len(ids) == len(offsets) and offsets[-1, 1] == len(text)
    assert (np.diff(offsets[:, 0]) > 0).all()


# ---- context extension ----


@pytest.mark.parametrize("method", ["gp", "rp", "pi"])
def test_extended_models_read_further_and_are_restored(
    method: str, plain: SentenceTransformer, naive: Naive
) -> None:
    extended = Encoder(EncoderSettings(extension=method, max_length=1024, dtype="float32"))
    text = text_of(800)
    (encoded,) = extended.encode([job(text)])
    assert extended.fingerprint.extension == method and extended.fingerprint.max_length == 1024
    assert encoded.tokens == encoded.encoded > 700
    one_pass = extended.model.encode([text])[0]
    np.testing.assert_allclose(encoded.vector, one_pass, atol=1e-5)
    restore(extended.model)
    short = "The probe fell into the lake."
    assert np.array_equal(extended.model.encode([short]), plain.encode([short]))
    assert not np.allclose(extended.model.encode([text])[0], one_pass, atol=1e-3)


def test_entropy_scaling_by_name(plain: SentenceTransformer) -> None:
    named = Encoder(EncoderSettings(extension="pi+entropy", max_length=1024, dtype="float32"))
    text = text_of(800)
    try:
        expected = extend(plain, "pi", max_length=1024, entropy=True).encode([text])[0]
    finally:
        restore(plain)
    np.testing.assert_allclose(named.encode([job(text)])[0].vector, expected, atol=1e-5)
    assert named.fingerprint.extension == "pi+entropy"


# ---- refusals ----


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"extension": "ntk"}, UnsupportedModel, "absolute positions"),
        ({"extension": "pcw+entropy"}, InvalidRequest, "the same as pcw"),
        ({"extension": "magic"}, InvalidRequest, "there are: none, pcw"),
        ({"max_length": 1000}, UnsupportedModel, "--max-length 512 or less, or .* gp, rp, pi"),
        ({"max_length": 2}, InvalidRequest, "no room for text"),
        ({"max_length": -4}, InvalidRequest, "no room for text"),
        ({"dtype": "float16"}, InvalidRequest, "auto, float32, bfloat16"),
        ({"device": "abacus"}, InvalidRequest, "cpu, cuda or mps"),
    ],
)
def test_impossible_settings(
    settings: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        Encoder(EncoderSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_damaged_weights(damage: str, folder: Path, tmp_path: Path) -> None:
    own = copy_of(folder, tmp_path / "model")
    data = (own / "model.safetensors").read_bytes()
    (own / "model.safetensors").unlink()
    broken = {"cut": data[: 1 << 20], "empty": b"", "garbage": b"\x80PK" * 999}[damage]
    (own / "model.safetensors").write_bytes(broken)
    with pytest.raises((ModelError), match="model"):
        Encoder(EncoderSettings(model=str(own)))


def test_a_folder_is_known_by_its_whole_path(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_of(folder, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    near = Encoder(EncoderSettings(model="model", dtype="float32")).fingerprint
    far = Encoder(EncoderSettings(model=str(tmp_path / "model"), dtype="float32")).fingerprint
    assert near == far and near.model == str(tmp_path / "model")
