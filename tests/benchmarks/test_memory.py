"""Peaks of memory are what a process really took."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.memory import resident_memory, touched_files

SIZE = 64_000_000
linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


FREED = f"""
import numpy as np
from benchmarks.memory import peak_memory, resident_memory
before, _ = resident_memory()
with peak_memory() as memory:
    array = np.ones({SIZE}, np.uint8)
    memory.sample()
    del array
print(memory.own - before)
"""


def test_the_peak_outlives_what_was_freed() -> None:
    """In a process of its own: this one may hold as much in freed blocks."""
    run = [sys.executable, "-c", FREED]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(SIZE / 1e6, abs=20)


@linux
def test_a_mapped_file_is_not_own(tmp_path: Path) -> None:
    own, mapped = resident_memory()
    pages = np.memmap(tmp_path / "file", np.uint8, "w+", shape=(SIZE,))
    pages[:] = 1
    now_own, now_mapped = resident_memory()
    assert now_mapped - mapped == pytest.approx(SIZE / 1e6, abs=20)
    assert now_own - own < 20


@linux
def test_only_pages_that_are_read_are_touched(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(SIZE))
    pages = np.memmap(file, np.uint8, "r")
    assert int(pages.sum()) == 0
    with touched_files() as touched:
        int(pages[: SIZE // 4].sum())
    assert touched[0] == pytest.approx(SIZE / 4e6, abs=12)  # libraries are files too
