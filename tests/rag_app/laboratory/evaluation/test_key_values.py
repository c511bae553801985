"""Key-value pairs after one reading: the same as a reading for each, by plain forward passes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from generator.evidence import Span
from generator.lm.causal_lm import CausalModel
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from generator.prompt.builder import split_prompt
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.cli.main import main
from rag_app.laboratory.datasets.haystack import haystack
from rag_app.laboratory.datasets.probes import Material, Probe, make_probes
from rag_app.laboratory.evaluation.answer_likelihood import append_answer
from rag_app.laboratory.evaluation.key_values import PAIRS, questions_at, score_lists

AT = (0.0, 1.0)


def naive(model: CausalModel, probe: Probe) -> list[float]:
    """The whole prompt again for each question, without a cache."""
    text = document("\n".join(probe.texts(0.5)), name="x", title="Document 1")
    shares = []
    for place in AT:
        right = 0
        for one in questions_at(probe, place):
            span = Span(text, 0, len(text.text), 1.0)
            prompt = split_prompt(one.question, span, chat=model.chat, room=8192)
            ids, count = append_answer(model, prompt.ids, one.lead, one.answer)
            with torch.inference_mode():
                logits = model.model(input_ids=torch.tensor([ids])).logits[0]
            right += logits[-count - 1 : -1].argmax(-1).tolist() == ids[-count:]
        shares.append(right / PAIRS)
    return shares


@pytest.mark.parametrize(
    "method",
    [None, MsPoE(r_min=1.1, r_max=1.1, order="uniform"), LPES.on_curve((1.0, 1.15, 0.95), 30)],
    ids=["off", "Ms-PoE", "LPES"],
)
def test_one_reading_serves_all_positions(model: CausalModel, method: MsPoE | LPES | None) -> None:
    probes = make_probes("kv", 1, Material(haystack(None), model.count, 90))
    got = score_lists(model, probes, AT, method)
    if method is None:
        wanted = [naive(model, probe) for probe in probes]
    else:
        with method(model):
            wanted = [naive(model, probe) for probe in probes]
    assert got.tolist() == wanted
    assert got.mean() > 0


def test_the_pairs_at_a_place() -> None:
    probe = Probe(
        "kv", "Which number stands beside the name B?", "B:", "2", "B: 2",
        ("A: 1", "C: 3", "D: 4", "E: 5", "F: 6"), joined=True,
    )  # fmt: skip
    lines = probe.texts(0.5)
    assert [one.answer for one in questions_at(probe, 0.0)] == [
        line.split(": ")[1] for line in lines[:3]
    ]
    last = questions_at(probe, 1.0)[-1]
    assert (last.question, last.lead) == ("Which number stands beside the name F?", "F:")
    published = Probe(
        "kv", 'What is the value of the key "b"?', '"b": "', "2", '"b": "2"', ('"a": "1"',), True
    )
    asked = [(one.question, one.lead, one.answer) for one in questions_at(published, 0.0)]
    assert ('What is the value of the key "a"?', '"a": "', "1") in asked


def test_what_cannot_be_read_once(
    tiny_model: CausalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    probes = make_probes("passkey", 1, Material(haystack(None), tiny_model.count, 60))
    with pytest.raises(InvalidRequest, match="--probe kv"):
        score_lists(tiny_model, probes, AT, None)
    monkeypatch.setattr(CausalModel, "load", lambda *_, **__: tiny_model)
    command = ["evaluate", "lost-in-the-middle", "--probe", "kv", "--lengths", "60", "--read-once"]
    result = CliRunner().invoke(main, [*command, "--questions", "2", "--method", "off", "--writer"])
    assert result.exit_code == 0, result.output
    assert "after one reading" in result.stdout
    result = CliRunner().invoke(main, [*command, "--written"])
    assert "leave out one" in result.output
    result = CliRunner().invoke(main, [*command, "--writer", "--generator", str(tmp_path)])
    assert "leave out --generator" in result.output
