"""Sentences read in their stretch: against the encoder itself, changed by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from generator.evidence import Embed, evidence_sentences
from generator.extractive.context.late_chunking import LORA_LAYERS, ContextualEncoder, context_graph
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.fitted import LORA_WEIGHTS
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.selector import select_quotes
from indexing.models.files import encoder_weights
from tests.generator.conftest import prose, span, transcript

STORY = prose(
    "The ferry was built in 1911. It was painted red every spring. The mill stood on the other "
    "bank. It burned down in one night. Nobody rebuilt it."
)
QUESTION = "When did the mill burn down?"


@cache
def encoder() -> tuple[Any, Any]:
    folder = encoder_weights().folder
    return AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def changes() -> dict[str, Tensor]:
    """Small ones, of every layer that may be changed."""
    torch.manual_seed(3)
    made = {"scale": torch.tensor(7.0)}
    for name, layer in encoder()[0].named_modules():
        if isinstance(layer, torch.nn.Linear) and name.endswith(LORA_LAYERS) and "encoder" in name:
            made[f"{name}.a"] = torch.randn(2, layer.in_features) / 20
            made[f"{name}.b"] = torch.randn(layer.out_features, 2) / 20
    return made


def expected(question: str, text: str, spans: list[tuple[int, int]]) -> Tensor:
    """Cosines by the untouched model, its layers' outputs changed by hooks."""
    model, tokenizer = encoder()
    made = changes()
    handles = [
        layer.register_forward_hook(
            lambda _, given, out, a=made[f"{name}.a"], b=made[f"{name}.b"]: (
                out + given[0] @ a.T @ b.T
            )
        )
        for name, layer in model.named_modules()
        if f"{name}.a" in made
    ]
    try:
        with torch.no_grad():
            asked = model(**tokenizer(question, return_tensors="pt")).last_hidden_state[0].mean(0)
            read = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
            places = read.pop("offset_mapping")[0].tolist()
            states = model(**read).last_hidden_state[0]
    finally:
        for handle in handles:
            handle.remove()
    means = [
        states[[i for i, (a, b) in enumerate(places) if start <= a < b <= end]].mean(0)
        for start, end in spans
    ]
    return torch.stack([torch.cosine_similarity(mean, asked, dim=0) for mean in means])


def test_values() -> None:
    sentences = evidence_sentences([span(STORY)])
    assert len(sentences) == 5
    cosines = expected(QUESTION, STORY.text, [(one.start, one.end) for one in sentences])
    scores = 7 * (cosines - cosines.max())
    got = ContextualEncoder(changes(), dtype=torch.float32).score(QUESTION, sentences)
    np.testing.assert_allclose(got, scores.numpy(), atol=2e-4)
    assert np.ptp(scores.numpy()) > 0.1  # there is something to tell apart
    some = [sentences[i] for i in (4, 1, 3, 0, 2)]
    again = ContextualEncoder(changes(), dtype=torch.float32).score(QUESTION, some)
    np.testing.assert_allclose(again, got[[4, 1, 3, 0, 2]], atol=2e-4)


def test_what_ships_changes_every_layer() -> None:
    shipped = load_file(LORA_WEIGHTS)
    layers = {name.rpartition(".")[0] for name in shipped if name != "scale"}
    assert layers == {name.rpartition(".")[0] for name in changes() if name != "scale"}
    assert len(layers) == 36 and shipped["scale"] > 0
    assert all(torch.isfinite(each).all() for each in shipped.values())


def test_a_sentence_is_read_among_its_neighbours() -> None:
    """The same words are closer to the question where they are about the mill."""
    context = ContextualEncoder(dtype=torch.float32)
    said = "It burned down in one night."
    mill = prose(f"The mill stood on the bank. {said} We talked of the tea.", name="mill")
    barn = prose(f"The barn stood on a hill. {said} We talked of the tea.", name="barn")
    sentences = evidence_sentences([span(mill), span(barn)])
    close = dict(
        zip(
            ((one.document.id, one.text) for one in sentences),
            context.score(QUESTION, sentences),
            strict=True,
        )
    )
    assert close["mill", said] > close["barn", said]
    assert max(close.values()) == 0


@pytest.mark.parametrize(
    "text", ["word " * 3000, "x" * 9000, "\u200b", "A. " * 400, "你好。" * 500]
)
def test_any_text_can_be_read(text: str) -> None:
    document = prose(f"The mill burned down in May. {text}")
    sentences = evidence_sentences([span(document)])
    close = ContextualEncoder().score(QUESTION, sentences)
    assert close.shape == (len(sentences),) and np.isfinite(close).all()
    assert ContextualEncoder().score(QUESTION, []).shape == (0,)


def test_the_graph_says_what_the_model_says() -> None:
    assert context_graph() is not None
    document = prose(" ".join(f"Sentence {i} tells of thing {i * 7}." for i in range(200)))
    sentences = evidence_sentences([span(document), span(STORY)])
    exact = ContextualEncoder(dtype=torch.float32).score(QUESTION, sentences)
    quick = ContextualEncoder(quick_start=True).score(QUESTION, sentences)
    np.testing.assert_allclose(quick, exact, atol=1e-4)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    ContextualEncoder().score(QUESTION, evidence_sentences([span(STORY)]))
    assert capfd.readouterr() == ("", "")


def test_quotes_follow_the_context(embed: Embed) -> None:
    """Of sentences that are equally good, the one that a reader of the whole prefers."""
    meeting = transcript([("Ann", "It was sold in May."), ("Bob", "It was sold in June.")])
    sentences = evidence_sentences([span(meeting)])
    features = SentenceFeatures.of("When was the ferry sold?", sentences, WordVectors(embed))
    one = QuoteLength(quotes=1, words=1)
    for best in (0, 1):
        said = np.array([0.0 if i == best else -30.0 for i in range(2)], np.float32)
        (quote,) = select_quotes(replace(features, contextual=said), length=one)
        assert quote.text == sentences[best].text
