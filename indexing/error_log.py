"""The log of unexpected errors: what went wrong with its traceback, where only its owner reads."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from indexing.message import N_, Message

LOG_NAME = "errors.log"
MAX_LOG = 1 << 20  # bytes, after which a log begins again
_LONGEST = 300  # characters of an error in a line


def logged(error: BaseException) -> str:
    """An error that nobody expected, in a line: what it is, and where the log has the details."""
    return f"({in_a_line(error)}); details: {write_log(error)}"


def unexpected(error: BaseException) -> Message:
    """The same as what is said of something that nobody expected to fail."""
    about, log = in_a_line(error), write_log(error)
    return N_("failed unexpectedly (%(error)s); details: %(log)s", error=about, log=log)


def in_a_line(error: BaseException) -> str:
    """The kind and the message of an error."""
    about = " ".join(f"{type(error).__name__}: {error}".split())
    return about if len(about) <= _LONGEST else f"{about[:_LONGEST]}..."


def write_log(error: BaseException) -> str:
    """Append the error with its traceback to a log that only its owner reads.

    Returns:
        Where it is, or why there is none.
    """
    lines = [
        f"{datetime.now(UTC).isoformat(timespec='seconds')} rag-app {_version()}, "
        f"Python {platform.python_version()}, {platform.platform()}",
        f"command: {' '.join(sys.argv[1:])}",
        *traceback.format_exception(error),
    ]
    text = "\n".join(lines) + "\n"
    for folder in _log_folders():
        file = folder / LOG_NAME
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            _append(file, text.encode("utf-8", "backslashreplace"))
            return str(file)
    return "no folder for a log can be written to; set RAG_APP_LOG to one"


def _version() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("rag-app")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def _log_folders() -> Iterator[Path]:
    """Where a log may lie, best first."""
    if named := os.environ.get("RAG_APP_LOG"):
        yield Path(named)
    from platformdirs import user_log_dir

    with suppress(OSError, RuntimeError):
        yield Path(user_log_dir("rag-app"))
    with suppress(OSError):
        yield Path(tempfile.gettempdir()) / "rag-app"


def _append(file: Path, text: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    if file.is_file() and file.stat().st_size > MAX_LOG:
        flags |= os.O_TRUNC
    descriptor = os.open(file, flags, 0o600)
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)
