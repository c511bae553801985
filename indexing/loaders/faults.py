"""Whose fault it is that a file was not read: the file's, or the program's.

Libraries meet damaged files with any exception there is. But a module that cannot be imported, or a
broken assumption of our own code, says nothing about the file.
"""

from __future__ import annotations

from indexing.error_log import in_a_line, write_log
from indexing.errors import ProgramFault, RagAppError, UnreadableFile
from indexing.message import N_

_OURS = (AssertionError, NameError, NotImplementedError)  # where our own code raises them
_PACKAGE = __name__.partition(".")[0]


def unreadable(
    path: object,  # the file
    error: Exception,  # what a loader, or the library below it, has raised
    *,
    verb: str,  # what cannot be done with the file, such as "read as pdf"
    # what to do about a damaged file
    remedy: str = N_("open it in its own program and save it again"),
) -> UnreadableFile:
    """The report of a file whose reading has ended in an exception."""
    if not is_of_program(error):
        return UnreadableFile(
            path,
            N_("is damaged: it cannot be %(verb)s (%(error)s)", verb=verb, error=in_a_line(error)),
            remedy,
        )
    return ProgramFault(
        path,
        N_(
            "is not %(verb)s, by a fault of the program (%(error)s); details: %(log)s",
            verb=verb,
            error=in_a_line(error),
            log=write_log(error),
        ),
        N_("the file may be sound: install rag-app again, or report the fault"),
    )


def is_of_program(error: Exception) -> bool:
    """Whether an exception is a fault of the program or of its installation."""
    if isinstance(error, ImportError | RagAppError):
        return True
    return isinstance(error, _OURS) and _raised_in(error).partition(".")[0] == _PACKAGE


def _raised_in(error: Exception) -> str:
    """The module whose code raised an exception."""
    trace, module = error.__traceback__, ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    return module
