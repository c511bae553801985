"""Rerankers: the order is the model's, the scores are the retriever's; servers with /rerank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from generator.evidence import gather_evidence
from generator.reranking.reranker import load_reranker, reranked
from indexing.errors import InvalidRequest, ServerFailed, UnsupportedModel
from tests.generator.conftest import hit, prose
from tests.json_server import json_server
from tests.small_models import save_random

QUESTION = "When does the ferry sail?"
TEXTS = ["The lunch is cheap.", "The ferry sails at nine in the morning.", "Nobody came."]
DOCUMENT = prose(" ".join(TEXTS))
SPANS = [(at := DOCUMENT.text.index(text), at + len(text)) for text in TEXTS]


def test_passages_come_in_the_order_of_their_new_scores() -> None:
    evidence = gather_evidence([hit(DOCUMENT, *SPANS)], lambda _: DOCUMENT)
    before = [each.score for each in evidence.passages]
    after = reranked(evidence, QUESTION, lambda _, texts: [texts.index(each) for each in texts])
    assert [(each.start, each.end) for each in after.passages] == SPANS[::-1]
    assert [each.score for each in after.passages] == before


def test_a_cross_encoder_scores_each_pair_alone(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    reranker = load_reranker(str(folder))
    texts = [*TEXTS, *[f"{TEXTS[0]} " * (i + 1) for i in range(10)]]
    for text, score in zip(texts, reranker.scores(QUESTION, texts), strict=True):
        with torch.inference_mode():
            alone = model(**tokenizer(QUESTION, text, return_tensors="pt")).logits
        assert score == pytest.approx(float(alone), abs=0.1)  # bfloat16
    assert str(folder) in reranker.described


def test_a_model_with_classes_is_no_reranker(tmp_path: Path) -> None:
    labels = ("entailment", "neutral", "contradiction")
    folder = save_random(tmp_path / "model", "BertForSequenceClassification", labels)
    with pytest.raises(UnsupportedModel, match=r"not one score.*--verifier"):
        load_reranker(str(folder)).scores(QUESTION, TEXTS)


def test_a_server_is_asked_as_others_ask_it() -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        rows = [{"index": i, "relevance_score": i / 10} for i in range(len(body["documents"]))]
        return 200, {"results": rows[::-1]}

    with json_server(reply) as (url, asked):
        found = load_reranker(f"openai:{url}#small", key="secret").scores(QUESTION, TEXTS)
    assert found == [0.0, 0.1, 0.2]
    said = {"model": "small", "query": QUESTION, "documents": TEXTS, "top_n": 3}
    assert asked == [("/v1/rerank", "Bearer secret", said)]


@pytest.mark.parametrize(
    ("status", "values", "said"),
    [
        (500, {}, "refused with 500"),
        (302, {}, "refused with 302"),
        (200, b"<html>", "failed"),
        (200, {"results": [{"index": 0, "relevance_score": 1.0}]}, "another form"),
        (200, {"error": "no model"}, "another form"),
    ],
)
def test_a_server_that_fails_says_so(status: int, values: Any, said: str) -> None:
    with json_server(lambda _: (status, values)) as (url, _):
        reranker = load_reranker(f"openai:{url}#small", key="")
        with pytest.raises(ServerFailed, match=said):
            reranker.scores(QUESTION, TEXTS)


def test_no_server_and_no_name() -> None:
    with pytest.raises(ServerFailed, match="go on without --reranker"):
        load_reranker("openai:http://127.0.0.1:9/v1#m", key="").scores(QUESTION, TEXTS)
    with pytest.raises(InvalidRequest):
        load_reranker("openai:ftp://x#m")
