"""A GGUF file's quantized matrices in, their codes and scales out, beside the dense weights.

GGUF stores a matrix in blocks of 32 columns, each weight as code * step + offset of its block. The
types of 4 and 8 bits are kept (Q4_0, Q4_1, Q4_K, Q8_0); the others are only unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Codes = tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]
    """Codes (blocks, 32), steps and offsets (blocks,)."""

FILE = "quantized.safetensors"
BLOCK = 32  # columns

_PARTS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_NAMES = {"token_embd.weight": "model.embed_tokens.weight", "output.weight": "lm_head.weight"}


@dataclass(frozen=True, slots=True, eq=False)
class Quantized:
    """A matrix in few bits: weight = code * step + offset."""

    bits: int  # 4 or 8
    # uint8 (rows, columns * bits / 8); of two codes in a byte, the first is the lower
    codes: Tensor
    scales: Tensor  # float32 (rows, columns / 32, 2), step and offset of each block

    def __getitem__(self, rows: slice | Tensor) -> Quantized:
        return Quantized(self.bits, self.codes[rows], self.scales[rows])

    def dequantize(self) -> Tensor:
        """The weights, float32 (rows, columns)."""
        import torch

        codes = self.codes
        if self.bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), dim=-1).flatten(1)
        step, offset = self.scales[..., None].unbind(2)
        return codes.view(len(codes), -1, BLOCK).mul(step).add_(offset).flatten(1)


def save(matrices: dict[str, Quantized], folder: Path) -> None:
    """Write matrices by the names of their parameters."""
    from safetensors.torch import save_file

    tensors = {}
    for name, matrix in matrices.items():
        tensors[f"{name}.codes"], tensors[f"{name}.scales"] = matrix.codes, matrix.scales
    save_file(tensors, folder / FILE)


def load(folder: Path, name: str) -> Quantized | None:
    """The matrix of a parameter, or None where the folder has none of that name."""
    from safetensors import safe_open

    if not (folder / FILE).is_file():
        return None
    with safe_open(folder / FILE, "pt") as file:
        if f"{name}.codes" not in file.keys():  # noqa: SIM118 - not a mapping
            return None
        codes, scales = file.get_tensor(f"{name}.codes"), file.get_tensor(f"{name}.scales")
    return Quantized(8 * codes.shape[1] // (scales.shape[1] * BLOCK), codes, scales)


def read(source: Path) -> dict[str, Quantized]:
    """The quantized matrices of a GGUF file, by the names that transformers gives them."""
    from gguf import GGUFReader

    file = GGUFReader(source)
    architecture = file.fields["general.architecture"].contents()
    heads = {
        part: file.fields.get(f"{architecture}.attention.{key}")
        for part, key in (("attn_q", "head_count"), ("attn_k", "head_count_kv"))
    }
    return dict(_matrices(file.tensors, architecture, heads))


def _matrices(
    tensors: list[Any], architecture: str, heads: dict[str, Any]
) -> Iterator[tuple[str, Quantized]]:
    import numpy as np
    import torch

    for tensor in tensors:
        name, kind = _name(tensor.name), tensor.tensor_type.name
        if name is None or kind not in _DECODERS:
            continue
        bits, block_bytes, decode = _DECODERS[kind]
        rows = len(tensor.data)
        codes, step, offset = decode(tensor.data.reshape(-1, block_bytes))
        if bits == 4:
            codes = codes[:, 0::2] | codes[:, 1::2] << np.uint8(4)
        matrix = Quantized(
            bits,
            torch.from_numpy(codes.reshape(rows, -1)),
            torch.from_numpy(np.stack((step, offset), axis=-1).reshape(rows, -1, 2)),
        )
        part = tensor.name.split(".")[-2]
        if architecture == "llama" and (field := heads.get(part)) is not None:
            matrix = matrix[_half_split(rows, int(field.contents()))]
        yield name, matrix


def _name(name: str) -> str | None:
    """What transformers calls a tensor; None for those that no model of the Llama kind has."""
    match name.split("."):
        case ["blk", number, part, "weight"] if part in _PARTS:
            return f"model.layers.{number}.{_PARTS[part]}.weight"
    return _NAMES.get(name)


def _half_split(rows: int, heads: int) -> Tensor:
    """Rows of neighbouring pairs, as llama.cpp rotates them, in transformers' order of halves."""
    import torch

    return torch.arange(rows).view(heads, -1, 2).swapaxes(1, 2).flatten()


def _half(blocks: NDArray[np.uint8], at: int) -> NDArray[np.float32]:
    """The float16 that stands at a byte of each block, (blocks,) float32."""
    import numpy as np

    return blocks[:, at : at + 2].copy().view(np.float16)[:, 0].astype(np.float32)


def _nibbles(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Low halves of bytes, then high halves: (..., n) to (..., 2 n)."""
    import numpy as np

    return np.concatenate((data & np.uint8(15), data >> np.uint8(4)), axis=-1)


def _q4_0(blocks: NDArray[np.uint8]) -> Codes:
    step = _half(blocks, 0)
    return _nibbles(blocks[:, 2:]), step, -8 * step


def _q4_1(blocks: NDArray[np.uint8]) -> Codes:
    return _nibbles(blocks[:, 4:]), _half(blocks, 0), _half(blocks, 2)


def _q8_0(blocks: NDArray[np.uint8]) -> Codes:
    import numpy as np

    step = _half(blocks, 0)
    return blocks[:, 2:] ^ np.uint8(128), step, -128 * step


def _q4_k(blocks: NDArray[np.uint8]) -> Codes:
    """Eight blocks of 32 share two float16, which their own scales of 6 bits multiply."""
    from gguf.quants import Q4_K

    scale, least = Q4_K.get_scale_min(blocks[:, 4:16])
    step, offset = _half(blocks, 0)[:, None] * scale, -_half(blocks, 2)[:, None] * least
    codes = _nibbles(blocks[:, 16:].reshape(-1, 4, BLOCK))
    return codes.reshape(-1, BLOCK), step.reshape(-1), offset.reshape(-1)


_DECODERS = {
    "Q4_0": (4, 18, _q4_0),
    "Q4_1": (4, 20, _q4_1),
    "Q4_K": (4, 144, _q4_k),
    "Q8_0": (8, 34, _q8_0),
}
"""Bits, bytes of a block, and how it is read, by GGUF's name of the type."""
