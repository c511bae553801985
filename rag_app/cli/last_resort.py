"""Unexpected errors: one line, an exit status, and a log file with the details."""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import click

from indexing.errors import InvalidRequest, RagAppError
from rag_app.cli.terminal import field, say

FAILED = 1
STOPPED = 130  # as shells call the end by Ctrl-C
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h
LOG_NAME = "errors.log"
MAX_LOG = 1 << 20  # bytes, after which a log begins again
SHOWN = 2000  # characters of a message


@contextmanager
def last_resort() -> Iterator[None]:
    """End the process in one line, whatever happens within.

    Raises:
        SystemExit: 1 for errors of ours and of the system, 130 for Ctrl-C, 70 for what is a defect.
    """
    try:
        yield
    except RagAppError as error:
        _end(str(error), FAILED)
    except (KeyboardInterrupt, click.Abort):
        _end("stopped", STOPPED)
    except (click.ClickException, click.exceptions.Exit):
        raise
    except BrokenPipeError:  # the reader of our output has gone: `rag-app list | head`
        _discard_output()
        sys.exit(FAILED)
    except MemoryError:
        _end("memory ran out; close other programs, or give it less to do at once", FAILED)
    except OSError as error:
        _end(f"{_system_error(error)}; details: {write_log(error)}", FAILED)
    except Exception as error:
        about = field(f"{type(error).__name__}: {error}")
        _end(f"failed unexpectedly ({about}); details: {write_log(error)}", UNEXPECTED)


def check_working_folder() -> None:
    """Refuse to work where no relative path means anything.

    Raises:
        InvalidRequest: The working folder was deleted.
    """
    try:
        Path.cwd()
    except OSError:
        message = "the working folder no longer exists; change to another folder, and try again"
        raise InvalidRequest(message) from None


def write_log(error: BaseException) -> str:
    """Append the error with its traceback to a log that only its owner reads.

    Returns:
        Where it is, or why there is none.
    """
    from rag_app import __version__

    lines = [
        f"{datetime.now(UTC).isoformat(timespec='seconds')} rag-app {__version__}, "
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


def _system_error(error: OSError) -> str:
    """What the system refused, and what to do about it."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{field(os.fsdecode(error.filename))}: {reason}; check that it is there and yours"
    if error.errno == errno.ENOSPC:
        return f"the output cannot be written ({reason}); make room, or write it elsewhere"
    if "temporary directory" in reason:
        return "there is no folder for temporary files; set TMPDIR to one that can be written to"
    return f"the system refused ({reason}); check the disk and the output"


def _end(message: str, status: int) -> NoReturn:
    """Say it, and end. What cannot be said any more is not."""
    if len(message) > SHOWN:  # a very long name within it
        message = f"{message[: SHOWN // 2]}...{message[-SHOWN // 2 :]}"
    with suppress(OSError, ValueError):
        say(f"rag-app: {message}", error=True)
    _discard_output()
    sys.exit(status)


def _discard_output() -> None:
    """Let nothing that is still to be written raise when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
