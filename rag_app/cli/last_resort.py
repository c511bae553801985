"""Unexpected errors: one line, an exit status, and a log file with the details."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import click

from indexing.error_log import write_log
from indexing.errors import InvalidRequest, RagAppError
from rag_app.cli.terminal import field, say

FAILED = 1
STOPPED = 130  # as shells call the end by Ctrl-C
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h
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
