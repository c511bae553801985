"""`c/step.c` as a library: compiled once for this cpu by the C compiler that is here.

It is kept in the user's cache, in a folder that nobody else may write to, by its sources, its
compiler and the cpu. Without a working compiler there is no library, and `Unavailable` says why.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
from ctypes import POINTER, Structure, c_float, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from indexing.models.cache_dir import cache_dir

SOURCES = Path(__file__).with_name("c")
_OPTIONS = ("-O3", "-march=native", "-shared", "-fPIC")
_TIMEOUT = 60  # seconds

F32, BF16, Q4, Q8 = 0, 1, 4, 8


class Unavailable(Exception):
    """Why there is no library."""


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


class Rotation(Structure):
    """As in `c/rotation.h`."""

    _fields_ = (
        *((name, c_void_p) for name in ("cos", "sin", "index")),
        *((name, c_int32) for name in ("count", "pairs", "angles_by_row", "index_by_row")),
    )


class States(Structure):
    """As in `c/rotation.h`."""

    _fields_ = (
        ("data", c_void_p),
        *((name, c_int64) for name in ("rows", "tokens")),
        *((name, c_int32) for name in ("dtype", "num_kv_heads", "heads_per_group", "head_dim")),
    )


@cache
def library() -> Any:  # noqa: ANN401 - functions code by name
    """The library, compiled now where it is not there yet.

    Raises:
        Unavailable: There is none for this machine.
    """
    compiler = _compiler()
    try:
        path = _private(cache_dir() / "compiled") / _name(compiler)
        if not path.exists():
            _compile(compiler, path)
        code = ctypes.CDLL(str(path))
    except OSError as error:
        raise Unavailable(f"compiled code cannot be made or used here: {error}") from error
    code.step.argtypes = [POINTER(Model), POINTER(Call)]
    code.rotate_tokens.argtypes = [POINTER(States), POINTER(Rotation), c_int32]
    code.rotate_tokens.restype = None
    code.query_key_products.argtypes = [
        *(c_void_p, c_int32, POINTER(States)),
        *(POINTER(Rotation), c_void_p, c_int32),
    ]
    code.query_key_products.restype = None
    return code


@cache
def shares_thread_pool() -> bool:
    """Whether the library runs in the OpenMP thread pool of PyTorch.

    Threads of two pools spin after each piece of work, and so slow each other down.
    """
    import torch

    try:
        theirs = ctypes.CDLL(str(Path(torch.__file__).with_name("lib") / "libtorch_cpu.so"))
        pools = (each.omp_get_num_threads for each in (library(), theirs))
        one, other = (ctypes.cast(pool, c_void_p).value for pool in pools)
    except (OSError, AttributeError, Unavailable):
        return False
    return one == other


def compiler_name() -> str:
    """The C compiler that makes the library; nothing is compiled.

    Raises:
        Unavailable: There is no compiler.
    """
    return _compiler()[0]


def _compiler() -> list[str]:
    """The command of the C compiler: $CC, or a usual one."""
    named = shlex.split(os.environ.get("CC", "")) or ["cc"]
    for name in (named[0],) if os.environ.get("CC") else ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path, *named[1:]]
    raise Unavailable("no C compiler was found")


def _private(folder: Path) -> Path:
    """A folder that only this user writes to: code is run from it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return folder
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise Unavailable(f"{folder} belongs to somebody else")
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def _name(compiler: list[str]) -> str:
    """A file name that depends on sources, compiler and cpu."""
    code = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.iterdir())]
    path = str(Path(compiler[0]).resolve())
    key = "\0".join((*code, path, *compiler, *_OPTIONS, _cpu()))
    return f"step-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def _cpu() -> str:
    """Model and instruction sets, from /proc/cpuinfo; elsewhere the machine's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = [platform.node()]
    named = ("model name", "flags", "Features", "CPU implementer", "CPU part", "isa")
    features = {line for line in lines if line.startswith(named)} or set(lines)
    return "\n".join([platform.machine(), *sorted(features)])


def _compile(compiler: list[str], path: Path) -> None:
    """Appears whole, by one rename; with threads where the compiler has them."""
    message = ""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        output = Path(folder) / "step.so"
        for threads in (["-fopenmp"], []):
            source = str(SOURCES / "step.c")
            try:
                run = subprocess.run(  # noqa: S603 - the person's own compiler, no shell
                    [*compiler, *_OPTIONS, *threads, "-o", str(output), source, "-lm"],
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=_TIMEOUT,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise Unavailable(f"the C compiler took over {_TIMEOUT} seconds") from error
            if run.returncode == 0 and output.exists():
                output.replace(path)
                return
            message = (run.stderr.strip() or "no reason given").splitlines()[0]
    raise Unavailable(f"the C compiler failed: {message}")
