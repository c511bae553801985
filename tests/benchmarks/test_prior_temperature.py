"""The temperature of the retrieval prior, against probabilities computed by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.prior_temperature import _log_shares, evaluate
from generator.evidence import Span
from indexing.errors import InvalidRequest
from indexing.files import document

ONE = document("The ferry sails at nine.", name="one")
SPANS: list[Span | None] = [Span(ONE, 0, 9, 4.0), Span(ONE, 10, 15, 2.0), Span(ONE, 16, 20, 1.0)]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_shares(temperature: float) -> None:
    ranked = [(SPANS, [False, True, True]), (SPANS, [False, False, False])]
    parts = [math.exp(score / temperature) for score in (4.0, 2.0, 1.0)]
    expected = math.log((parts[1] + parts[2]) / sum(parts))
    assert _log_shares(ranked, temperature) == [pytest.approx(expected)]


def test_own_questions(tmp_path: Path) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry sails at nine. Bring a coat.", "utf-8")
    (tmp_path / "cake.txt").write_text("Bake the cake for an hour. Let it cool.", "utf-8")
    data = tmp_path / "questions.jsonl"
    gold = [{"path": "ferry.txt", "quote": "The ferry sails at nine."}]
    record = {"question": "When does the ferry sail?", "answer": "At nine.", "evidence": gold}
    data.write_text(json.dumps(record) + "\n", "utf-8")
    done = CliRunner().invoke(main, ["prior-temperature", "--data", str(data), "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["with_gold"] == {"all documents": 1}
    assert report["best"] == 0.5  # the ferry comes first: the sharper the better
    values = list(report["pooled"].values())
    assert values == sorted(values, reverse=True)
    data.write_text(json.dumps({**record, "evidence": []}) + "\n", "utf-8")
    with pytest.raises(InvalidRequest, match="no question has gold"):
        evaluate(data)
