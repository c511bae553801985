"""llama.cpp as a baseline."""

from __future__ import annotations

from pathlib import Path

from benchmarks import llama_cpp


def test_llama_cpp_takes_gguf_files_only(tmp_path: Path) -> None:
    assert llama_cpp.gguf_file(str(tmp_path / "a.gguf")) == tmp_path / "a.gguf"
    assert llama_cpp.gguf_file(str(tmp_path)) is None
    assert llama_cpp.engine(str(tmp_path), threads=1, window=8) is None
