"""What is watched is what a process really takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_app.evaluation.memory import held, watched

SIZE = 64_000_000
linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def test_what_was_given_back_is_remembered() -> None:
    before, _ = held()
    with watched() as memory:
        taken = np.ones(SIZE, np.uint8)
        memory.look()
        del taken
    assert memory.own - before == pytest.approx(SIZE / 1e6, abs=20)


@linux
def test_a_mapped_file_is_not_own(tmp_path: Path) -> None:
    own, mapped = held()
    pages = np.memmap(tmp_path / "file", np.uint8, "w+", shape=(SIZE,))
    pages[:] = 1
    now_own, now_mapped = held()
    assert now_mapped - mapped == pytest.approx(SIZE / 1e6, abs=20)
    assert now_own - own < 20
