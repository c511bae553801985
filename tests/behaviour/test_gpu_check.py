"""tools/gpu_check.py without a GPU: it says so; and what it calls the same answers."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "gpu_check.py"


def test_without_a_gpu_it_says_so() -> None:
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, str(TOOL)], capture_output=True, text=True, env=hidden, check=False
    )
    assert done.returncode == 2
    assert "no GPU here" in done.stdout and not done.stderr


def test_the_vectors_of_a_shard_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """The CPU stands for the GPU."""
    assert runpy.run_path(str(TOOL))["check_shard"](500, 3, device="cpu")
    assert "500 vectors; they differ by" in (said := capsys.readouterr().out) and "ok" in said


@pytest.mark.parametrize(
    ("scores", "places", "same"),
    [
        ([[0.9, 0.5]], [[4, 2]], True),
        ([[0.9, 0.500001]], [[4, 2]], True),
        ([[0.9, 0.51]], [[4, 2]], False),
        ([[0.9, 0.5]], [[4, 3]], False),
    ],
)
def test_agreement(scores: list[list[float]], places: list[list[int]], same: bool) -> None:
    agreement = runpy.run_path(str(TOOL))["Agreement"]
    one = np.array([[0.9, 0.5]], np.float32), np.array([[4, 2]])
    other = np.array(scores, np.float32), np.array(places)
    assert bool(agreement.of(one, other)) is same
