"""C code as a library: compiled once for this cpu by the C compiler that is here.

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
from ctypes import c_void_p
from pathlib import Path

from indexing.models.cached_folder import cache_dir

_OPTIONS = ("-O3", "-march=native", "-shared", "-fPIC")
_TIMEOUT = 60  # seconds


class Unavailable(Exception):
    """Why there is no library."""


def compiled(source: Path) -> ctypes.CDLL:
    """A C file, with the headers beside it, as a library; compiled now where it is not there yet.

    Raises:
        Unavailable: There is none for this machine.
    """
    compiler = _compiler()
    try:
        path = _private(cache_dir() / "compiled") / _name(source, compiler)
        if not path.exists():
            _compile(source, compiler, path)
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise Unavailable(f"compiled code cannot be made or used here: {error}") from error


def shares_thread_pool(code: ctypes.CDLL) -> bool:
    """Whether a library runs in the OpenMP thread pool of PyTorch.

    Threads of two pools spin after each piece of work, and so slow each other down.
    """
    import torch

    try:
        theirs = ctypes.CDLL(str(Path(torch.__file__).with_name("lib") / "libtorch_cpu.so"))
        pools = (each.omp_get_num_threads for each in (code, theirs))
        one, other = (ctypes.cast(pool, c_void_p).value for pool in pools)
    except (OSError, AttributeError):
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


def _name(source: Path, compiler: list[str]) -> str:
    """A file name that depends on sources, compiler and cpu."""
    code = [path.read_text(encoding="utf-8") for path in sorted(source.parent.iterdir())]
    path = str(Path(compiler[0]).resolve())
    key = "\0".join((*code, path, *compiler, *_OPTIONS, _cpu()))
    return f"{source.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def _cpu() -> str:
    """Model and instruction sets, from /proc/cpuinfo; elsewhere the machine's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = [platform.node()]
    named = ("model name", "flags", "Features", "CPU implementer", "CPU part", "isa")
    features = {line for line in lines if line.startswith(named)} or set(lines)
    return "\n".join([platform.machine(), *sorted(features)])


def _compile(source: Path, compiler: list[str], path: Path) -> None:
    """Appears whole, by one rename; with threads where the compiler has them."""
    message = ""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        output = Path(folder) / path.name
        for threads in (["-fopenmp"], []):
            try:
                run = subprocess.run(  # noqa: S603 - the person's own compiler, no shell
                    [*compiler, *_OPTIONS, *threads, "-o", str(output), str(source), "-lm"],
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
