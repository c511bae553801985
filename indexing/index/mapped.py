"""Arrays in files, mapped into memory: what is touched is read, and nothing around it.

The system reads up to megabytes around a page that is asked for, as most programs read on. A search
does not: where memory is short, each of its pages would drive a thousand others out, which the next
search wants. So it is told that reading is random, and what is wanted in one piece is asked for
ahead, all of it at once. Nothing of this changes a value, and elsewhere than on Linux and macOS
nothing is told.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy.typing as npt

AHEAD = 1 << 16  # bytes: less is read page by page


def ask_ahead(array: npt.NDArray[Any], spans: Sequence[tuple[int, int]]) -> None:
    """Let the system begin to read rows of a mapped array, (first, last + 1) of each span."""
    if array.nbytes < AHEAD or not hasattr(mmap, "MADV_WILLNEED"):
        return
    base, step, madvise = array.__array_interface__["data"][0], array.strides[0], _madvise()
    for first, last in spans:
        if (last - first) * step >= AHEAD:
            start = base + first * step
            page = start - start % mmap.PAGESIZE
            madvise(page, base + last * step - page, mmap.MADV_WILLNEED)


@cache
def _madvise() -> Any:  # noqa: ANN401 - a C function
    """The system's own: `mmap.madvise` wants offsets in a file, which arrays do not tell."""
    function = ctypes.CDLL(None).madvise
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function
