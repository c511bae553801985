"""Settings of the libraries in this process: threads that sleep when idle, and memory."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_TICKS = "16"  # of the CPU's clock, as a power of two: some 25 microseconds
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # as in glibc's malloc.h
_KERNELS = "32"
_KEPT, _LARGEST = 256 << 20, 32 << 20  # bytes; the second is the highest that glibc takes


def let_blas_threads_sleep() -> None:
    """Lets NumPy's threads sleep once a product is made. Call it before NumPy is imported.

    Otherwise they wait busily for up to a tenth of a second (OpenBLAS), and whatever PyTorch
    computes meanwhile has to share the cpu with them. OpenBLAS reads the variable once, when NumPy
    loads it; what the environment says stays.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _TICKS)


def keep_memory() -> None:
    """Lets the process keep up to 256 MiB that it has freed (glibc; elsewhere nothing is done).

    A pass over a long text frees and asks for the same megabytes in each layer. Whether they go
    back to the system in between, to be zeroed again page by page, depends on what happens to lie
    behind them. What the environment says about malloc stays.
    """
    _mallopt({_MMAP_THRESHOLD: _LARGEST, _TRIM_THRESHOLD: _KEPT})


def share_memory() -> None:
    """Lets threads share two arenas of memory (glibc). Call it before there is a second thread.

    Otherwise each thread that allocates while others do gets one of its own, up to eight a core,
    and each keeps what a thread has needed once: of a server, up to two gigabytes.
    """
    _mallopt({_ARENA_MAX: 2})


def keep_few_kernels() -> None:
    """Lets oneDNN keep 32 compiled kernels, not 1,024. Call it before PyTorch computes.

    It compiles one for each shape, and texts have many lengths: of a server, 130 MB after sixty
    questions, which were answered no faster for it. What the environment says stays.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", _KERNELS)


def release_memory() -> None:
    """Gives back to the system whatever the process has freed (glibc; elsewhere nothing is done).

    The next large computation asks for it again, page by page: for pauses.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS, Windows
        ctypes.CDLL(None).malloc_trim(0)


def _mallopt(values: dict[int, int]) -> None:
    """Set parameters of glibc's malloc, unless the environment says something about malloc."""
    if any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return
    try:
        library = ctypes.CDLL(None)
        _ = library.gnu_get_libc_version
        mallopt = library.mallopt
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return
    for parameter, value in values.items():
        mallopt(parameter, value)
