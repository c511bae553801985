"""Limits on reading one file."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.errors import InvalidRequest

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of reading one file; a file that exceeds one of them is reported, and the rest go on.

    Attributes:
        bytes: Size of the file.
        seconds: CPU time; elapsed time on systems without `resource` (Windows).
        memory: Bytes of memory; without effect on systems without `resource`.
        characters: Of text, in all documents of the file together.
    """

    bytes: int = 100 * MIB
    seconds: int = 300
    memory: int = 2048 * MIB
    characters: int = 100 * MIB

    def __post_init__(self) -> None:
        if min(self.bytes, self.seconds, self.memory, self.characters) < 1:
            raise InvalidRequest("each limit of a file must be at least 1")
