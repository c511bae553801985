"""Rates of reading and writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.evaluation import generation, llama_cpp


def test_rates_are_medians_over_rounds() -> None:
    timed = [(900.0, 40.0), (1000.04, 10.0), (1100.0, 41.0)]
    assert generation._rate("x", 500, timed) == generation.Rate("x", 500, 1000.0, 40.0)


def test_reading_ends_with_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([5.0, 5.2, 5.25, 5.3, 5.4])
    monkeypatch.setattr(generation, "perf_counter", lambda: next(moments))
    assert generation._timed(range(4), 10) == pytest.approx((50, 15))


def test_llama_cpp_takes_gguf_files_only(tmp_path: Path) -> None:
    assert llama_cpp.gguf_file(str(tmp_path / "a.gguf")) == tmp_path / "a.gguf"
    assert llama_cpp.gguf_file(str(tmp_path)) is None
    assert llama_cpp.engine(str(tmp_path), threads=1, window=8) is None
