"""The quickest way that there is, and where there is none, the next one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from indexing.encoder import compiled_bert
from indexing.encoder.cpu_layers import CpuLayers
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.kernels.library import Unavailable
from tests.compilers import compiler_script

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or not torch.ops.mkldnn._is_mkldnn_bf16_supported(),
    reason="this PyTorch has no oneDNN, or this processor no bfloat16 in it",
)


def of(extension: str = "pcw") -> CpuLayers:
    settings = EncoderSettings(extension=extension, dtype="bfloat16", max_length=256)
    return Encoder(settings).layers


def test_compiled_where_there_is_such_code() -> None:
    try:
        compiled_bert._library()
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert of() == of("none") == CpuLayers(compiled=6, packed=0)


@needs_onednn
def test_without_a_compiler_layers_are_packed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", compiler_script(tmp_path / "broken", "exit 1"))
    compiled_bert._library.cache_clear()
    try:
        assert of() == CpuLayers(compiled=0, packed=37)
    finally:
        compiled_bert._library.cache_clear()


@needs_onednn
def test_other_extensions_change_layers_so_these_are_packed() -> None:
    assert of("rp") == CpuLayers(compiled=0, packed=37)
