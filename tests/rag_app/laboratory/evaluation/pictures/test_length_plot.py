"""Accuracy by length as a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from rag_app.laboratory.evaluation.longembed import Report, TaskResult
from rag_app.laboratory.evaluation.pictures.length_plot import curves, draw
from rag_app.laboratory.evaluation.table import Row


def test_a_line_a_method(encoder: Encoder, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    parts = {
        str(length): TaskResult({}, 0.5, share, 0, {}) for length, share in ((64, 0.9), (128, 0.4))
    }
    rows = [
        Row("pcw/dense", {"passkey": Report("passkey", encoder.fingerprint, "dense", parts)}),
        Row("ntk/dense", {"passkey": None}),
    ]
    assert curves(rows, "passkey") == {"pcw/dense": {64: 0.9, 128: 0.4}}
    assert curves(rows, "needle") == {}
    draw(rows, "a model", tmp_path / "lengths.png")
    assert (tmp_path / "lengths.png").read_bytes().startswith(b"\x89PNG")
