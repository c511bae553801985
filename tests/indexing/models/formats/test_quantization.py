"""Codes and scales of GGUF files: the weights that GGUF's own reader unpacks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

gguf = pytest.importorskip("gguf")
pytest.importorskip("gguf.quants")

from indexing.models.formats.quantization import FILE, load, read, save  # noqa: E402

KINDS = ["Q4_0", "Q4_1", "Q4_K", "Q8_0"]


def write(path: Path, kind: str, *, architecture: str = "qwen2") -> np.ndarray:
    """A file with one matrix of queries, of 4 heads; its weights as GGUF unpacks them."""
    dtype = getattr(gguf.GGMLQuantizationType, kind)
    block, size = gguf.GGML_QUANT_SIZES[dtype]
    random = np.random.default_rng(len(kind) + size)
    data = random.integers(0, 256, (32, 512 // block, size), dtype=np.uint8)
    for at in {"Q4_1": (0, 2), "Q4_K": (0, 2)}.get(kind, (0,)):
        scale = random.uniform(0.001, 0.02, (32, 512 // block, 1)).astype(np.float16)
        data[..., at : at + 2] = scale.view(np.uint8)
    data = data.reshape(32, -1)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_tensor("blk.3.attn_q.weight", data, raw_dtype=dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    weights: np.ndarray = gguf.quants.dequantize(data, dtype)
    return weights


@pytest.mark.parametrize("kind", KINDS)
def test_codes_and_scales_are_the_weights(kind: str, tmp_path: Path) -> None:
    weights = write(tmp_path / "model.gguf", kind)
    save(read(tmp_path / "model.gguf"), tmp_path)
    matrix = load(tmp_path, "model.layers.3.self_attn.q_proj.weight")
    assert matrix is not None and matrix.bits == int(kind[1])
    torch.testing.assert_close(matrix.dequantize(), torch.from_numpy(weights), rtol=1e-6, atol=1e-7)
    assert load(tmp_path, "model.layers.3.self_attn.k_proj.weight") is None


def test_queries_of_llama_are_in_the_order_of_transformers(tmp_path: Path) -> None:
    weights = write(tmp_path / "model.gguf", "Q8_0", architecture="llama")
    (matrix,) = read(tmp_path / "model.gguf").values()
    expected = weights.reshape(4, 4, 2, -1).swapaxes(1, 2).reshape(weights.shape)
    assert torch.equal(matrix.dequantize(), torch.from_numpy(expected))


def test_other_types_are_only_unpacked(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", "Q5_0")
    assert read(tmp_path / "model.gguf") == {}
    assert load(tmp_path, "anything") is None and not (tmp_path / FILE).exists()
