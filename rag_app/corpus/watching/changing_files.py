"""Files that are changing: which are complete, and which are transcripts that grow."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from indexing.files import GROWING
from indexing.loaders import LOADERS
from indexing.walk import resolved

LATEST = 5  # times as long as others may a transcript change in other ways than at its end
LONGEST = 4 * 2**20  # bytes of a transcript that is read while it is written

State = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Change:
    """A file that has changed."""

    state: State | None  # what it looks like; None where it is gone
    since: float  # since when
    first: float  # when it changed first since it was read
    tried: State | None = None  # what it looked like when it was last read while it is written


@dataclass(slots=True)
class ChangingFiles:
    """What has changed in folders, and is yet to be read.

    A transcript may be read while it is written: whatever it says stays. It is not read for more
    than half of the time, and counts as complete in the end, even if it goes on changing.
    """

    settle: float  # seconds without a change after which a file is complete
    _changes: dict[Path, _Change] = field(default_factory=dict)
    _rest: float = 0.0  # until when none is read that is being written

    def note(self, path: Path) -> None:
        """A file has changed, or all files of a folder."""
        now = monotonic()
        for each in files_under(path):
            known = self._changes.get(each) or _Change(None, now, now)
            self._changes[each] = replace(known, state=state_of(each), since=now)

    def complete(self) -> set[Path]:
        """Those that have not changed for long enough."""
        now = monotonic()
        for path, change in list(self._changes.items()):
            if (latest := state_of(path)) != change.state:
                self._changes[path] = replace(change, state=latest, since=now)
        return {
            path
            for path, change in self._changes.items()
            if now - change.since >= self.settle
            or (_may_grow(path, change) and now - change.first >= LATEST * self.settle)
        }

    def growing(self) -> set[Path]:
        """Transcripts that have changed since they were last read, if it is time for them."""
        return {
            path
            for path, change in self._changes.items()
            if monotonic() >= self._rest
            and _may_grow(path, change)
            and change.tried != change.state
        }

    def were_read(
        self,
        complete: Collection[Path],  # files that were read whole
        growing: Collection[Path],  # others that were read while they are written
        grown: Collection[Path],  # the real paths of those of them that had something new to say
        *,
        seconds: float,  # of CPU time that all that took
    ) -> None:
        """Forget what was complete, and go on with what grows."""
        now = monotonic()
        for path in complete:
            self._changes.pop(path, None)
        for path in growing:
            change = self._changes[path]
            first = now if {path, *real([path])} & set(grown) else change.first
            self._changes[path] = replace(change, tried=change.state, first=first)
        if growing:
            self._rest = now + seconds


def _may_grow(path: Path, change: _Change) -> bool:
    """Whether a file may be a transcript that is being written."""
    size = change.state[0] if change.state else 0
    return path.suffix.lower() in GROWING and 0 < size <= LONGEST


def files_under(path: Path) -> Iterator[Path]:
    """A changed path itself, if loaders read such files or it is gone; of a folder, its files."""
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                if Path(name).suffix.lower() in LOADERS and not name.startswith("."):
                    yield Path(folder, name)
    elif path.suffix.lower() in LOADERS or not os.path.lexists(path):
        yield path


def state_of(path: Path) -> State | None:
    """Another one when a file has changed; None for what is gone."""
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    return about.st_size, about.st_mtime_ns, about.st_ino


def real(paths: Iterable[Path]) -> list[Path]:
    """What links lead to."""
    targets = (resolved(path) for path in paths if path.is_symlink())
    return [path for path in targets if isinstance(path, Path)]
