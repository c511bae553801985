"""Arrays in one file: written once, block by block, and mapped into memory ever after.

First come the arrays, each at a multiple of 64 bytes, then as JSON what they are, and how long that
is. The seal of a file is its length and CRC-32, which whoever names the file keeps.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64  # bytes
BLOCK = 1 << 24  # bytes at a time
LARGE = 1 << 20  # bytes: files that are read whole only where they have been written to
_LENGTH = 8  # bytes of the number at the end


@dataclass(frozen=True, slots=True)
class Seal:
    """What a file was when it was written."""

    size: int  # in bytes
    checksum: int  # CRC-32
    written: int  # when, in ns

    def fits(self, path: Path, *, whole: bool = False) -> bool:
        """Whether a file is as it was written.

        A large one that nobody has written to since is believed, unless it is to be read whole:
        reading gigabytes takes seconds, and drives out of memory what a search wants there.
        """
        try:
            found = path.stat()
            if found.st_size != self.size:
                return False
            if not whole and self.size >= LARGE and found.st_mtime_ns <= self.written:
                return True
            return _checksum(path) == self.checksum
        except OSError:
            return False


def write_arrays(
    path: Path,  # of the file
    arrays: Iterable[tuple[str, npt.NDArray[Any]]],  # each with its name
    *,
    step: Callable[[], None] = lambda: None,  # called before each block
) -> Seal:
    """Write arrays by name, and see that they are on the disk.

    Raises:
        OSError: There is no room, or the folder is not to be written to.
    """
    checksum, position, entries = 0, 0, []
    with path.open("wb") as file:

        def put(data: bytes | memoryview) -> None:
            nonlocal checksum, position
            file.write(data)
            checksum = zlib.crc32(data, checksum)
            position += len(data)

        for name, array in arrays:
            put(bytes(-position % ALIGNMENT))
            entries.append([name, array.dtype.str, array.shape, position])
            rows = max(1, BLOCK // max(1, array[:1].nbytes))
            for start in range(0, len(array), rows):
                step()
                put(
                    np.ascontiguousarray(array[start : start + rows])
                    .reshape(-1)
                    .view(np.uint8)
                    .data
                )
        directory = json.dumps(entries).encode()
        put(directory)
        put(len(directory).to_bytes(_LENGTH, "little"))
        file.flush()
        os.fsync(file.fileno())
        return Seal(position, checksum, os.fstat(file.fileno()).st_mtime_ns)


def read_arrays(path: Path) -> Mapping[str, npt.NDArray[Any]]:
    """The arrays of a file, mapped: what is touched is read, and nothing around it.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file.
    """
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        data.madvise(mmap.MADV_RANDOM)
    end = len(data) - _LENGTH
    start = end - int.from_bytes(data[end:], "little")
    return {
        name: np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        for name, dtype, shape, at in json.loads(data[start:end])
    }


def to_bytes(text: str) -> npt.NDArray[np.uint8]:
    """A text as an array."""
    return np.frombuffer(text.encode(), np.uint8)


def to_text(array: npt.NDArray[np.uint8]) -> str:
    """The text of an array."""
    return array.tobytes().decode()


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum
