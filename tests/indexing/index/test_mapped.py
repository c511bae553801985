"""Mapped arrays hold what was saved; asking ahead changes nothing, and reads what it asks for."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from indexing.index import mapped as module
from indexing.index.array_file import read_arrays, write_arrays
from indexing.index.mapped import ask_ahead


@pytest.mark.parametrize("shape", [(0,), (7,), (50_000,), (3_000, 32)])
def test_what_was_saved(shape: tuple[int, ...], tmp_path: Path) -> None:
    saved = np.random.default_rng(0).random(shape)
    write_arrays(tmp_path / "a", [("b", np.arange(3)), ("a", saved)])
    found = read_arrays(tmp_path / "a")["a"]
    spans = [(0, shape[0]), (shape[0] // 2, shape[0]), (shape[0], shape[0])]
    ask_ahead(found, spans)
    ask_ahead(saved, spans)
    assert type(found) is np.ndarray and np.array_equal(found, saved)


def test_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole pages that hold the rows, and nothing for rows that one reading brings."""
    asked: list[tuple[int, int, int]] = []
    monkeypatch.setattr(module, "_madvise", lambda: lambda *given: asked.append(given))
    write_arrays(tmp_path / "a", [("a", np.zeros((4096, 100), np.float32))])
    found = read_arrays(tmp_path / "a")["a"]
    ask_ahead(found, [(10, 12), (1000, 2000)])
    ((start, length, _),) = asked
    rows = found[1000:2000].ctypes.data
    assert start % mmap.PAGESIZE == 0 and rows - mmap.PAGESIZE < start <= rows
    assert start + length == rows + 1000 * 400
