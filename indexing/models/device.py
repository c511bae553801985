"""The device that this machine computes on, and its fastest dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def best_device() -> torch.device:
    """CUDA, else Apple's GPU, else the CPU."""
    import torch

    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def best_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where the device multiplies it in hardware, else float32.

    float16 is never chosen: models trained in bfloat16 overflow in it.
    """
    import torch

    if device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    elif device.type == "cpu":
        fast = _multiplies_bf16()
    else:
        fast = False
    return torch.bfloat16 if fast else torch.float32


def _multiplies_bf16() -> bool:
    """Whether the CPU has AVX512-BF16, AMX or Arm's BF16 instructions."""
    import torch

    if not hasattr(torch.cpu, "get_capabilities"):  # an older torch
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
