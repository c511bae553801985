"""`c/step.c` as a library, and its structures."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_float, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from indexing.kernels.library import compiled

SOURCE = Path(__file__).parent / "c" / "step.c"

F32, BF16, Q4, Q8 = 0, 1, 4, 8


class Matrix(Structure):
    """As in `c/matrices.h`."""

    _fields_ = (
        ("dtype", c_int32),
        ("rows", c_int32),
        ("columns", c_int32),
        ("data", c_void_p),
        ("scales", c_void_p),
        ("bias", c_void_p),
    )


class Layer(Structure):
    """As in `c/model.h`."""

    _fields_ = (
        *((name, Matrix) for name in ("query", "key", "value", "output", "gate", "up", "down")),
        ("before_attention", c_void_p),
        ("before_mlp", c_void_p),
    )


class Model(Structure):
    """As in `c/model.h`."""

    _fields_ = (
        *(
            (name, c_int32)
            for name in (
                *("layers", "hidden", "num_heads", "num_kv_heads", "head_dim", "intermediate"),
                "cache_dtype",
            )
        ),
        ("epsilon", c_float),
        ("scale", c_float),
        ("layer", POINTER(Layer)),
        ("norm", c_void_p),
        ("head", Matrix),
    )


class Cache(Structure):
    """As in `c/model.h`."""

    _fields_ = (
        ("keys", c_void_p),
        ("values", c_void_p),
        ("row_stride", c_int64),
        ("head_stride", c_int64),
    )


class Call(Structure):
    """As in `c/model.h`."""

    _fields_ = (
        ("rows", c_int32),
        ("threads", c_int32),
        ("length", c_int64),
        ("starts", c_void_p),
        ("cache", POINTER(Cache)),
        ("cos", c_void_p),
        ("sin", c_void_p),
        ("layer_stride", c_int64),
        ("hidden_states", c_void_p),
        ("logits", c_void_p),
    )


@cache
def library() -> Any:  # noqa: ANN401 - functions code by name
    """The library, compiled now where it is not there yet.

    Raises:
        Unavailable: There is none for this machine.
    """
    code = compiled(SOURCE)
    code.step.argtypes = [POINTER(Model), POINTER(Call)]
    return code
