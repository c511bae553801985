"""Verdicts are found again, by the model they are of; files that are none are passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.lm import calibration_record as verdicts
from generator.lm.calibration_record import Verdict, keep, verdict_for
from generator.ms_poe.method import MsPoE
from indexing.errors import InvalidRequest

METHOD = MsPoE(r_min=1.0, r_max=1.2, order="calibrated", places=((0.5, 1.5), (1.0, 0.0)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path))
    monkeypatch.setattr(verdicts, "SHIPPED", tmp_path / "shipped")
    return tmp_path


@pytest.mark.parametrize("method", [METHOD, MsPoE(last_layer=4), None])
def test_a_verdict_is_found_again(method: MsPoE | None) -> None:
    kept = Verdict("org/model", "abc", method, "because", {"off": [0.5]})
    keep(kept)
    assert verdict_for("org/model", "abc") == kept
    assert verdict_for("org/model", "abd") is None
    assert verdict_for("other/model", "abc") is None


def test_ones_own_comes_before_the_shipped(folder: Path) -> None:
    shipped, own = (Verdict("m", "1", None, reason) for reason in ("shipped", "own"))
    keep(shipped, folder / "shipped")
    assert verdict_for("m", "1") == shipped
    keep(own)
    assert verdict_for("m", "1") == own


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"form": 99}', '{"form": 1, "model": "m"}',
     json.dumps({"form": 1, "model": "m", "revision": "1", "method": {"r_min": -1, "places": []},
                 "reason": "", "held_out": {}})],
)  # fmt: skip
def test_other_files_are_passed_over(text: str) -> None:
    path = keep(Verdict("m", "1", None, ""))
    path.write_text(text)
    assert verdict_for("m", "1") is None


def test_names_cannot_leave_the_folder(folder: Path) -> None:
    path = keep(Verdict("../../../etc/passwd", "../..", None, ""))
    assert path.parent == folder / "verdicts"
    assert verdict_for("../../../etc/passwd", "../..") is not None


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "verdicts").write_text("a file")
    with pytest.raises(InvalidRequest, match="RAG_APP_DATA"):
        keep(Verdict("m", "1", None, ""))
