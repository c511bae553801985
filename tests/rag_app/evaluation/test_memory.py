"""What is watched is what a process really takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_app.evaluation.memory import held

SIZE = 64_000_000
linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


GIVEN_BACK = f"""
import numpy as np
from rag_app.evaluation.memory import held, watched
before, _ = held()
with watched() as memory:
    taken = np.ones({SIZE}, np.uint8)
    memory.look()
    del taken
print(memory.own - before)
"""


def test_what_was_given_back_is_remembered() -> None:
    """In a process of its own: a long one may hold as much that it has no more use for."""
    run = [sys.executable, "-c", GIVEN_BACK]
    found = subprocess.run(run, capture_output=True, text=True, check=True)
    assert float(found.stdout) == pytest.approx(SIZE / 1e6, abs=20)


@linux
def test_a_mapped_file_is_not_own(tmp_path: Path) -> None:
    own, mapped = held()
    pages = np.memmap(tmp_path / "file", np.uint8, "w+", shape=(SIZE,))
    pages[:] = 1
    now_own, now_mapped = held()
    assert now_mapped - mapped == pytest.approx(SIZE / 1e6, abs=20)
    assert now_own - own < 20
