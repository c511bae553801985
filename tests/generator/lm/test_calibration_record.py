"""Records are found again by their model; files that are no records are skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.lm import calibration_record
from generator.lm.calibration_record import CalibrationRecord, find_record, save_record
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from indexing.errors import InvalidRequest

METHOD = MsPoE(r_min=1.0, r_max=1.2, order="calibrated", places=((0.5, 1.5), (1.0, 0.0)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path))
    monkeypatch.setattr(calibration_record, "SHIPPED", tmp_path / "shipped")
    return tmp_path


@pytest.mark.parametrize("method", [METHOD, MsPoE(last_layer=4), LPES(scales=(1, 1.2)), None])
def test_a_verdict_is_found_again(method: MsPoE | LPES | None) -> None:
    kept = CalibrationRecord("org/model", "abc", method, "because", {"off": [0.5]})
    save_record(kept)
    assert find_record("org/model", "abc") == kept
    assert find_record("org/model", "abd") is None
    assert find_record("other/model", "abc") is None


def test_ones_own_comes_before_the_shipped(folder: Path) -> None:
    shipped, own = (CalibrationRecord("m", "1", None, reason) for reason in ("shipped", "own"))
    save_record(shipped, folder / "shipped")
    assert find_record("m", "1") == shipped
    save_record(own)
    assert find_record("m", "1") == own


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"form": 99}', '{"form": 1, "model": "m"}',
     json.dumps({"form": 1, "model": "m", "revision": "1", "method": {"r_min": -1, "places": []},
                 "reason": "", "held_out": {}}),
     json.dumps({"form": 1, "model": "m", "revision": "1", "method": {"scales": [0]},
                 "reason": "", "held_out": {}})],
)  # fmt: skip
def test_other_files_are_passed_over(text: str) -> None:
    path = save_record(CalibrationRecord("m", "1", None, ""))
    path.write_text(text)
    assert find_record("m", "1") is None


def test_names_cannot_leave_the_folder(folder: Path) -> None:
    path = save_record(CalibrationRecord("../../../etc/passwd", "../..", None, ""))
    assert path.parent == folder / "verdicts"
    assert find_record("../../../etc/passwd", "../..") is not None


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "verdicts").write_text("a file")
    with pytest.raises(InvalidRequest, match="RAG_APP_DATA"):
        save_record(CalibrationRecord("m", "1", None, ""))
