"""Second questions: the same answer with the prefix cache and without, and sooner with it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.follow_up import evaluate
from generator.lm.causal_lm import CausalModel
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest
from rag_app.corpus.embedding_cache import EmbeddingCache
from rag_app.laboratory.datasets.haystack import haystack

DECODINGS = ("concat", "rag-token")


@pytest.mark.slow
def test_reuse_changes_no_answer(model: CausalModel) -> None:
    embed = EmbeddingCache(Encoder(EncoderSettings()).encode_queries)
    report = evaluate(
        model, embed, haystack(None), decodings=DECODINGS, tokens=350, rounds=1, written=8
    )
    assert [one.decoding for one in report.decodings] == list(DECODINGS)
    assert 200 < report.tokens < 500
    for one in report.decodings:
        assert one.same == 1.0
        assert 0 < one.second.model < one.uncached.model
        assert one.first.model < one.first.whole
    with pytest.raises(InvalidRequest, match="ask for less"):
        evaluate(model, embed, haystack(None), tokens=model.window)


@pytest.mark.slow
def test_command() -> None:
    done = CliRunner().invoke(
        main,
        [
            "follow-up",
            "--tokens",
            "300",
            "--rounds",
            "1",
            "--decoding",
            "concat",
            "--json",
        ],
    )
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["decodings"][0]["decoding"] == "concat"
    assert set(report["decodings"][0]["ratio"]) == {"model", "whole"}
