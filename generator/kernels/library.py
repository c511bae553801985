"""`c/step.c` as a library: compiled once for this processor by the C compiler that is here.

It is kept in the user's cache, in a folder that nobody else may write to, by its sources, its
compiler and the processor. Where there is no compiler, or it fails, there is no library, and the
reason is told.
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
_PATIENCE = 60  # seconds

F32, BF16, LEVELS4, LEVELS8 = 0, 1, 4, 8


class Unavailable(Exception):
    """Why there is no library."""


class Matrix(Structure):
    """As in `c/matrices.h`."""

    _fields_ = (
        ("kind", c_int32),
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
            for name in ("layers", "hidden", "heads", "groups", "size", "wide", "kept_as")
        ),
        ("epsilon", c_float),
        ("scale", c_float),
        ("layer", POINTER(Layer)),
        ("norm", c_void_p),
        ("head", Matrix),
    )


class Cache(Structure):
    """As in `c/model.h`."""

    _fields_ = (("keys", c_void_p), ("values", c_void_p), ("row", c_int64), ("group", c_int64))


class Call(Structure):
    """As in `c/model.h`."""

    _fields_ = (
        ("rows", c_int32),
        ("threads", c_int32),
        ("length", c_int64),
        ("starts", c_void_p),
        ("cache", POINTER(Cache)),
        ("cosines", c_void_p),
        ("sines", c_void_p),
        ("wave", c_int64),
        ("states", c_void_p),
        ("scores", c_void_p),
    )


class Turns(Structure):
    """As in `c/turns.h`."""

    _fields_ = (
        *((name, c_void_p) for name in ("cosines", "sines", "places")),
        *((name, c_int32) for name in ("waves", "pairs", "many_waves", "many_places")),
    )


class States(Structure):
    """As in `c/turns.h`."""

    _fields_ = (
        ("numbers", c_void_p),
        *((name, c_int64) for name in ("rows", "tokens")),
        *((name, c_int32) for name in ("kind", "groups", "each", "size")),
    )


@cache
def library() -> Any:  # noqa: ANN401 - functions found by name
    """The library, compiled now where it is not there yet.

    Raises:
        Unavailable: There is none for this machine.
    """
    compiler = _compiler()
    try:
        path = _private(cache_dir() / "compiled") / _name(compiler)
        if not path.exists():
            _compile(compiler, path)
        found = ctypes.CDLL(str(path))
    except OSError as error:
        raise Unavailable(f"compiled code cannot be made or used here: {error}") from error
    found.step.argtypes = [POINTER(Model), POINTER(Call)]
    found.turn_tokens.argtypes = [POINTER(States), POINTER(Turns), c_int32]
    found.turn_tokens.restype = None
    found.query_keys.argtypes = [
        *(c_void_p, c_int32, POINTER(States)),
        *(POINTER(Turns), c_void_p, c_int32),
    ]
    found.query_keys.restype = None
    found.pack.argtypes = [c_void_p, c_int64, c_int64, c_int32, c_void_p, c_void_p, c_int32]
    return found


@cache
def one_pool() -> bool:
    """Whether the library takes its threads from the pool that PyTorch has.

    Threads of two pools wait busily after each piece of work, in each other's way.
    """
    import torch

    try:
        theirs = ctypes.CDLL(str(Path(torch.__file__).with_name("lib") / "libtorch_cpu.so"))
        pools = (each.omp_get_num_threads for each in (library(), theirs))
        one, other = (ctypes.cast(pool, c_void_p).value for pool in pools)
    except (OSError, AttributeError, Unavailable):
        return False
    return one == other


def expected() -> str:
    """What makes the library, without making it.

    Raises:
        Unavailable: There is no compiler.
    """
    return _compiler()[0]


def _compiler() -> list[str]:
    """The command of the C compiler: $CC, or a usual one."""
    named = shlex.split(os.environ.get("CC", "")) or ["cc"]
    for name in (named[0],) if os.environ.get("CC") else ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found, *named[1:]]
    raise Unavailable("no C compiler was found")


def _private(folder: Path) -> Path:
    """A folder that only this user writes to: code is run from it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return folder
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
        raise Unavailable(f"{folder} belongs to somebody else")
    if about.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def _name(compiler: list[str]) -> str:
    """Other sources, compilers and processors have other libraries."""
    code = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.iterdir())]
    made = str(Path(compiler[0]).resolve())
    key = "\0".join((*code, made, *compiler, *_OPTIONS, _processor()))
    return f"step-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def _processor() -> str:
    """What it can do, as Linux tells; elsewhere the machine's name stands for it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = [platform.node()]
    named = ("model name", "flags", "Features", "CPU implementer", "CPU part", "isa")
    told = {line for line in lines if line.startswith(named)} or set(lines)
    return "\n".join([platform.machine(), *sorted(told)])


def _compile(compiler: list[str], path: Path) -> None:
    """Appears whole, by one rename; with threads where the compiler has them."""
    said = ""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "step.so"
        for threads in (["-fopenmp"], []):
            source = str(SOURCES / "step.c")
            try:
                run = subprocess.run(  # noqa: S603 - the person's own compiler, no shell
                    [*compiler, *_OPTIONS, *threads, "-o", str(made), source, "-lm"],
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=_PATIENCE,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise Unavailable(f"the C compiler took over {_PATIENCE} seconds") from error
            if run.returncode == 0 and made.exists():
                made.replace(path)
                return
            said = (run.stderr.strip() or "no reason given").splitlines()[0]
    raise Unavailable(f"the C compiler failed: {said}")
