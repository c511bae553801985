"""Calibration: when a method is on, that a stopped run goes on, and that the end is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from click.testing import CliRunner

from generator.lm.calibration_record import find_record
from generator.lm.causal_lm import CausalModel
from generator.lm.ms_poe_policy import describe
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.models.files import Weights
from rag_app.cli.main import main
from rag_app.laboratory.calibration import ms_poe as calibration
from rag_app.laboratory.calibration.genetic_search import GeneticSettings
from rag_app.laboratory.calibration.ms_poe import (
    CalibrationSettings,
    Trial,
    _verdict,
    calibrate,
    candidates,
)
from rag_app.laboratory.datasets.haystack import haystack
from rag_app.laboratory.evaluation.answer_likelihood import score_answer
from tests.own_cache import use_own_cache

SETTINGS = CalibrationSettings(
    lengths=(40,), tuning_probes=2, test_probes=2, positions=2,
    genetic=GeneticSettings(population=4, generations=2),
)  # fmt: skip
SCALES_TRIED = 5  # three beside the untouched model, then two children


def scores(*by_place: float, probes: int = 40) -> Any:
    """Exact at each place for a share of the probes."""
    exact = [[float(n < share * probes) for share in by_place] for n in range(probes)]
    return np.stack([np.array(exact), np.zeros((probes, len(by_place)))], axis=-1)


@pytest.mark.parametrize(
    ("off", "on", "helps"),
    [
        ((0.9, 0.4, 0.8), (0.9, 0.7, 0.8), True),
        ((0.9, 0.4, 0.8), (0.85, 0.7, 0.8), False),  # a place loses
        ((0.9, 0.4, 0.8), (0.95, 0.4, 0.8), False),  # the worst does not gain
        ((0.9, 0.4, 0.8), (0.9, 0.425, 0.8), False),  # by one probe: that is no sure gain
        ((0.9, 0.4, 0.8), (0.9, 0.4, 0.8), False),
    ],
)
def test_when_it_is_on(tiny_model: CausalModel, off: Any, on: Any, helps: bool) -> None:
    method = LPES(scales=(1.1,) * 4)
    record = _verdict(tiny_model, method, scores(*off), scores(*on), (0.0, 0.5, 1.0))
    assert (record.method == method) is helps
    assert record.held_out["off"] == list(off)
    assert record.held_out["on"] == list(on)
    assert record.held_out["worst_gain"][0] == pytest.approx(min(on) - min(off))
    assert (record.model, record.revision) == ("tiny", "1")


def test_a_trial_that_loses_somewhere_has_less_merit() -> None:
    assert Trial(MsPoE(), 4, 0.1, 0.3, -0.2).merit == pytest.approx(0.1)
    assert Trial(MsPoE(), 4, 0.1, 0.3, 0.2).merit == pytest.approx(0.3)


def test_a_run_that_is_stopped_goes_on(
    tiny_model: CausalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, real, calls = tmp_path / "scores.jsonl", score_answer, [0]

    def stopping(at: int) -> None:
        def scored(*arguments: Any) -> Any:
            calls[0] += 1
            if calls[0] == at:
                raise KeyboardInterrupt
            return real(*arguments)

        monkeypatch.setattr(calibration, "score_answer", scored)

    stopping(-1)
    whole = calibrate(tiny_model, haystack(None), SETTINGS, cache=tmp_path / "whole.jsonl")
    count, calls[0] = calls[0], 0
    stopping(count // 2)
    with pytest.raises(KeyboardInterrupt):
        calibrate(tiny_model, haystack(None), SETTINGS, cache=cache)
    assert "_rag_app_ms_poe" not in tiny_model.model.__dict__
    cache.write_text(cache.read_text()[:-9])  # killed within a line
    stopping(-1)
    calls[0] = 0
    again = calibrate(tiny_model, haystack(None), SETTINGS, cache=cache)
    assert again == whole
    assert calls[0] == count - count // 2 + 2
    calibrate(tiny_model, haystack(None), SETTINGS, cache=cache)
    assert calls[0] == count - count // 2 + 2
    methods = [trial.method for trial in whole.trials]
    assert sum(isinstance(each, LPES) for each in methods) == SCALES_TRIED
    assert len(methods) == SCALES_TRIED + len(candidates(tiny_model, ((0.0, 1.0),) * 4))
    assert len({describe(method) for method in methods}) == len(methods)
    assert not any(module._forward_hooks for module in tiny_model.model.modules())


def test_candidates_keep_caches_of_shared_beginnings_usable(tiny_model: CausalModel) -> None:
    methods = candidates(tiny_model, ((0.0, 1.0),) * 4)
    assert {method.order for method in methods} == {"uniform", "calibrated"}
    assert any(method.r_min < 1.2 for method in methods)
    assert len({describe(method) for method in methods}) == len(methods)
    for method in methods:
        with method(tiny_model):
            pass


def test_one_method_alone(tiny_model: CausalModel, tmp_path: Path) -> None:
    settings = replace(SETTINGS, methods=("lpes",))
    alone = calibrate(tiny_model, haystack(None), settings, cache=tmp_path / "scores.jsonl")
    assert len(alone.trials) == SCALES_TRIED
    assert all(isinstance(trial.method, LPES) for trial in alone.trials)
    assert isinstance(alone.verdict.tried, LPES)
    assert len(alone.verdict.tried.scales) == 4
    assert alone.curves[1].method.startswith("lpes ")
    with pytest.raises(InvalidRequest, match="no method"):
        CalibrationSettings(methods=("rope",))


def test_what_cannot_be_calibrated(tiny_model: CausalModel, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="reads 2048"):
        calibrate(
            tiny_model, haystack(None), CalibrationSettings(lengths=(4000,)), cache=tmp_path / "x"
        )
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequest, match="RAG_APP_CACHE"):
        calibrate(tiny_model, haystack(None), SETTINGS, cache=tmp_path / "file" / "x")
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2)
    weights, inner = Weights("gpt", Path(), "1", "folder"), transformers.GPT2LMHeadModel(config)
    other = CausalModel(weights, inner, tiny_model.tokenizer)
    with pytest.raises(UnsupportedModel, match="learned vectors"):
        calibrate(other, haystack(None), SETTINGS, cache=tmp_path / "y")
    with pytest.raises(InvalidRequest):
        CalibrationSettings(positions=1)


def test_the_command_keeps_its_verdict(
    tiny_model: CausalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path))
    use_own_cache(tmp_path / "cache", monkeypatch)
    monkeypatch.setattr(CausalModel, "load", lambda *_, **__: tiny_model)
    arguments = [
        "--lengths",
        "40",
        "--tuning-probes",
        "2",
        "--test-probes",
        "2",
        "--positions",
        "2",
    ]
    arguments += ["--questions", "1", "--method", "ms-poe"]
    picture = ["--plot", str(tmp_path / "x.png")]
    result = CliRunner().invoke(main, ["calibrate", *arguments, *picture])
    assert result.exit_code == 0, result.output
    assert "Verdict: " in result.stdout
    assert "held out" in result.stdout
    assert (tmp_path / "x.png").exists()
    result = CliRunner().invoke(main, ["calibrate", *arguments, "--json"])
    values = json.loads(result.stdout)
    record = find_record("tiny", "1")
    assert record is not None
    assert record.reason == values["verdict"]["reason"]
    assert Path(values["kept"]).is_file()
