"""Second questions: answered alike with and without what was read before, and sooner."""

from __future__ import annotations

import json

import pytest
import torch
from click.testing import CliRunner

from generator.lm.causal_lm import CausalModel
from indexing.encoder.encoder import Encoder, EncoderSettings
from indexing.errors import InvalidRequest
from rag_app.cli.main import main
from rag_app.corpus.embedding_cache import Remembering
from rag_app.datasets.haystack import haystack
from rag_app.datasets.probes import PARTS, Material, make
from rag_app.evaluation.follow_up import evaluate
from rag_app.evaluation.positions import evaluate as positions

READ = ("concat", "rag-token")


@pytest.fixture(scope="module")
def model() -> CausalModel:
    return CausalModel.load(device="cpu", dtype=torch.float32)


def test_reuse_changes_no_answer(model: CausalModel) -> None:
    embed = Remembering(Encoder(EncoderSettings()).encode_queries)
    report = evaluate(model, embed, haystack(None), decodings=READ, tokens=350, rounds=1, written=8)
    assert [one.decoding for one in report.decodings] == list(READ)
    assert 200 < report.tokens < 500
    for one in report.decodings:
        assert one.same == 1.0
        assert 0 < one.second.model < one.anew.model
        assert one.first.model < one.first.whole
    with pytest.raises(InvalidRequest, match="ask for less"):
        evaluate(model, embed, haystack(None), tokens=model.window)


@pytest.mark.slow
def test_command() -> None:
    done = CliRunner().invoke(
        main,
        [
            "evaluate",
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


@pytest.mark.parametrize("kind", ["passkey", "kv", "qa"])
def test_probes_are_offered_apart(model: CausalModel, kind: str) -> None:
    for probe in make(kind, 2, Material(haystack(None), model.count, 300)):
        evidence = probe.evidence(0.5)
        lines = [line for span in evidence.passages for line in span.text.split("\n")]
        assert lines == probe.texts(0.5)
        assert len(evidence.passages) == (min(PARTS, len(lines)) if probe.joined else len(lines))
        assert sum(probe.gold in span.text for span in evidence.passages) == 1


def test_positions_of_a_decoding(model: CausalModel) -> None:
    probes = {60: make("passkey", 1, Material(haystack(None), model.count, 60))}
    found = positions(
        model, probes, methods={"off": None}, positions=2, written=True, decoding="rag-token"
    )
    assert found.scoring == "rag-token"
    assert found.curves[0].mean.value > 0
    with pytest.raises(InvalidRequest, match="--written"):
        positions(model, probes, methods={"off": None}, positions=2, decoding="rag-token")
