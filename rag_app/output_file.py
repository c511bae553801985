"""Files that are written whole or not at all. What lies where a person names one may be theirs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from indexing.errors import InputError, InvalidRequest, RagAppError


@contextmanager
def writable(place: Path, remedy: str, *, kind: type[RagAppError] = InputError) -> Iterator[None]:
    """What the disk refuses within it is an error of ours, of that kind, with what to do then."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise kind(f"{place}: cannot be written ({reason}); {remedy}") from error


def refuse_foreign(path: Path, ours: Callable[[bytes], bool], *, what: str) -> None:
    """Refuse a place that cannot be written to, or that holds what this program did not write.

    A file that is `ours`, by its bytes, may be replaced; `what` is its kind, such as "report".

    Raises:
        InputError: There is no such folder, or it or the file cannot be written to.
        InvalidRequest: A file of another kind is there.
    """
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written (no folder {path.parent}); make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{path}: cannot be written (no permission); name another file")
    with writable(path, "name another file"):
        data = path.read_bytes() if path.is_file() else b""
    if data and not ours(data):
        raise InvalidRequest(f"{path}: is there, and no {what} of rag-app; give another name")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that gets its name when it is whole; one of that name is replaced.

    Raises:
        InputError: It cannot be written.
    """
    with writable(path, "name another file"):
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
        else:
            put_in_place(path.resolve(), data)


def put_in_place(
    path: Path,
    data: str | bytes,
    *,
    mode: int = 0o666,
    synced: bool = False,
    times: tuple[int, int] | None = None,
) -> None:
    """Write a file beside its place, and then put it there; one of that name is replaced at once.

    A text is written in UTF-8. The mode says who may read it, from its first byte on; a `synced`
    one is on the disk by then, whatever happens to the machine. The times of its last reading and
    writing are ns since the epoch; None for now.

    Raises:
        OSError: It cannot be written; nothing of it is left then.
    """
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(number, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        if times is not None:
            os.utime(draft, ns=times)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


PRIVATE = 0o600
"""Mode of a file that only its owner may read."""


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths are of one file, which need not exist."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
