"""Scores against a plain log-softmax, intervals against a plain loop, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from generator.lm.calibration_record import CalibrationRecord, save_record
from generator.lm.causal_lm import CausalModel
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from indexing.errors import InvalidRequest
from rag_app.cli.main import main
from rag_app.laboratory.datasets.haystack import haystack
from rag_app.laboratory.datasets.probes import Material, make_probes
from rag_app.laboratory.evaluation import bootstrap
from rag_app.laboratory.evaluation.answer_likelihood import append_answer, score_answer
from rag_app.laboratory.evaluation.positions import curve, evaluate, parse_method, score_probes


def test_an_answer_is_scored_as_the_model_would_write_it(model: CausalModel) -> None:
    for probe in make_probes("kv", 2, Material(haystack(None), model.count, 60)):
        prompt = probe.prompt(model.chat, 1.0).ids
        ids, count = append_answer(model, prompt, probe.lead, probe.answer)
        assert model.decode(ids[-count:]).strip() == probe.answer
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([ids])).logits[0].double()
        log_probs = [
            float(logits[at - 1].log_softmax(-1)[ids[at]])
            for at in range(len(ids) - count, len(ids))
        ]
        score = score_answer(model, probe, 1.0)
        assert score.likelihood == pytest.approx(sum(log_probs) / count, abs=1e-4)
        written = list(ids[:-count])
        with torch.inference_mode():
            for _ in range(count):
                written.append(
                    int(model.model(input_ids=torch.tensor([written])).logits[0, -1].argmax())
                )
        assert score.exact == (written == ids)


def test_leads_that_end_in_a_quotation_mark(model: CausalModel) -> None:
    ids, count = append_answer(model, [], '"key": "', "4f9a")
    assert model.decode(ids) == '"key": "4f9a'
    assert model.decode(ids[-count:]).endswith("4f9a")


def test_methods_act_while_probes_are_asked_only(model: CausalModel) -> None:
    seen = []
    probes = make_probes("kv", 2, Material(haystack(None), model.count, 60))

    def score(asked: CausalModel, *_: object) -> float:
        seen.append("_rag_app_ms_poe" in asked.model.__dict__)
        return len(seen)

    found = score_probes(model, probes, (0.0, 0.5, 1.0), MsPoE(), score=score)
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]
    score_probes(model, probes, (0.0,), None, score=score)
    assert seen == [True] * 6 + [False] * 2


def test_intervals_by_question() -> None:
    random = np.random.default_rng(4)
    found = (random.random((40, 3)) < [0.9, 0.5, 0.7]).astype(float)
    score = curve("off", 100, found)
    assert [one.value for one in score.accuracy] == found.mean(axis=0).tolist()
    assert score.worst.value == found.mean(axis=0).min()
    assert score.gap.value == pytest.approx(np.ptp(found.mean(axis=0)))
    draws = np.random.default_rng(0).integers(0, 40, size=(bootstrap.DRAWS, 40))
    means = sorted(sum(found[i].mean() for i in rows) / 40 for rows in draws)
    assert score.mean.low == pytest.approx(means[int(0.025 * len(means))], abs=0.01)
    assert score.mean.high == pytest.approx(means[int(0.975 * len(means))], abs=0.01)
    spread = 1.96 * (0.25 / 40) ** 0.5
    assert 0.5 * spread < score.accuracy[1].value - score.accuracy[1].low < 2 * spread


def test_methods_by_name(
    model: CausalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path))
    assert parse_method("off", model) is None
    assert parse_method("ms-poe", model) == MsPoE()
    assert parse_method("ms-poe:1.1", model) == MsPoE(r_min=1.1, r_max=1.1, order="uniform")
    assert parse_method("ms-poe:1-1.2", model) == MsPoE(r_min=1, r_max=1.2)
    assert parse_method("lpes:1-1.2-0.9", model) == LPES.on_curve((1, 1.2, 0.9), 30)
    helpful, tried = MsPoE(r_max=1.3), LPES(scales=(1.1,) * 30)
    record = CalibrationRecord(model.name, model.revision, helpful, "it helps", tried=tried)
    save_record(record)
    assert parse_method("calibrated", model) == helpful
    assert parse_method("tried", model) == tried
    for wrong in ("on", "off:1", "tried:1", "ms-poe:x", "ms-poe:-1", "lpes", "lpes:0-1", ""):
        with pytest.raises(InvalidRequest):
            parse_method(wrong, model)


def test_positions_are_two_or_more(model: CausalModel) -> None:
    with pytest.raises(InvalidRequest, match="2 or more"):
        evaluate(model, {}, methods={}, positions=1)


@pytest.fixture
def loaded(model: CausalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CausalModel, "load", lambda *_, **__: model)


@pytest.mark.usefixtures("loaded")
def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "kv.jsonl"
    pairs = [[f"key{n}", f"value {n}"] for n in range(8)]
    file.write_text(json.dumps({"ordered_kv_records": pairs, "key": "key3", "value": "value 3"}))
    picture = tmp_path / "places.png"
    result = CliRunner().invoke(main, [
        "evaluate", "lost-in-the-middle", "--probe", "kv", "--data", str(file), "--positions", "2",
        "--method", "off", "--method", "ms-poe:1.1", "--written", "--plot", str(picture), "--json",
    ])  # fmt: skip
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["probe"], report["scoring"], report["places"]) == ("kv", "written", [0.0, 1.0])
    assert [one["method"] for one in report["curves"]] == ["off", "ms-poe:1.1"]
    assert all(0 <= one["worst"]["value"] <= one["mean"]["value"] <= 1 for one in report["curves"])
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "x.jsonl"], "--probe kv"),
        (["--probe", "kv", "--lengths", "9999", "--questions", "1"], "reads 8192"),
        (["--lengths", "0"], "not a list"),
        (["--method", "on"], "no method"),
    ],
)
@pytest.mark.usefixtures("loaded")
def test_what_cannot_be_asked_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["evaluate", "lost-in-the-middle", *arguments])
    assert result.exit_code in {1, 2}
    assert message in result.output


def test_positions_of_a_decoding(model: CausalModel) -> None:
    probes = {60: make_probes("passkey", 1, Material(haystack(None), model.count, 60))}
    report = evaluate(
        model, probes, methods={"off": None}, positions=2, written=True, decoding="rag-token"
    )
    assert report.scoring == "rag-token"
    assert report.curves[0].mean.value > 0
    with pytest.raises(InvalidRequest, match="--written"):
        evaluate(model, probes, methods={"off": None}, positions=2, decoding="rag-token")
