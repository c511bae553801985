"""The process that reads files: paths in, what the loaders find in them out.

`process.py` starts it, and again after it has ended: by a crash, or because a file exceeded its
limits. It imports the loaders and what they need, and nothing else of this program.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders import LOADERS
from indexing.loaders.faults import unreadable
from indexing.loaders.messages import pack, receive, send
from indexing.message import N_, Message
from indexing.ocr.reading import OcrSettings
from indexing.ocr.recognition import Recognition, recognising

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

MEMORY_STATUS = 86
"""The exit status that says: a file needed more memory than it may have."""

SPARE = 1024 * MIB  # of address space beyond the limit of memory: libraries, stacks, arenas
WATCH = 0.1  # seconds between two looks at the memory
IDLE = 5.0  # the same while there is nothing to do
_LONGEST_READING = 64 * MIB
_DAMAGE = frozenset((None, errno.EINVAL))  # of an OSError that a library raises over its data
_STATM = Path("/proc/self/statm")


def extracts(path: Path) -> Iterator[Extract | UnreadableFile]:
    """What the loader gives, with every way in which it can break turned into a reason.

    The libraries below it meet damaged files with any exception there is, so all are caught here
    and nowhere else; `faults` tells those of the program from those of the file.
    """
    loader = LOADERS[path.suffix.lower()]
    try:
        yield from loader.load(path)
    except UnreadableFile as error:
        yield error
    except RecursionError:
        yield UnreadableFile(path, N_("is nested too deeply"), N_("save its text as .txt"))
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in _DAMAGE:
            yield UnreadableFile.by_system(path, error)
            return
        yield unreadable(path, error, verb=N_("read as %(format)s", format=Message(loader.format)))


def drawn(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """What is asked of the pages of a PDF, or a reason, as JSON has it."""
    from indexing.loaders.pdf import pages

    try:
        return pages.answer(path, request)
    except UnreadableFile as error:
        return pack(error)
    except MemoryError:
        return {"exceeds": "memory"}
    except Exception as error:
        return pack(unreadable(path, error, verb=N_("drawn")))


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until there are no more: each with what its file holds, then with "over".

    The first message says the limits of all. Between a request and its answers the other side is
    asked for what is kept of pictures.
    """
    first = _request(source)
    limits = FileLimits(**first["limits"])
    _limit_memory(limits.memory)
    watch = _MemoryWatch(limits.memory)
    watch.start()
    send(target, {"ready": True})
    clock = _Clock(limits.seconds)
    recognition = Recognition(
        OcrSettings(**{**first["ocr"], "languages": tuple(first["ocr"]["languages"])}),
        ask=partial(_ask, source, target),
        tell=partial(send, target),
        limit=clock.limit_page,
    )
    while request := _request(source):
        clock.limit_file()
        watch.busy.set()
        path, pages = Path(request["path"]), request.get("pages")
        with recognising(recognition):
            for message in _answers(path, limits) if pages is None else [drawn(path, pages)]:
                send(target, message)
        watch.busy.clear()
        send(target, {"over": resident() or 0})


def _ask(source: BinaryIO, target: BinaryIO, message: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    send(target, message)
    return receive(source, longest=_LONGEST_READING)["reading"]


def _request(source: BinaryIO) -> dict[str, Any]:
    try:
        return dict(receive(source, longest=MIB))
    except EOFError:
        return {}


def _answers(path: Path, limits: FileLimits) -> Iterator[dict[str, Any]]:
    """A message for each document of a file, and what it exceeds."""
    characters = 0
    try:
        for extract in extracts(path):
            characters += 0 if isinstance(extract, UnreadableFile) else len(extract.text)
            if characters > limits.characters:
                yield {"exceeds": "characters"}
                return
            yield pack(extract)
    except MemoryError:
        yield {"exceeds": "memory"}


# ---- limits ----


class _Clock:
    """The CPU time that a file may take, beside which each page that OCR reads has its own."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._remaining = 0.0
        self._since = 0.0

    def limit_file(self) -> None:
        """Begin a file."""
        self._remaining = self._seconds
        self._resume()

    def limit_page(self, seconds: int | None) -> None:
        """Begin a page that may take so much; None ends it, and what it took is not the file's."""
        if seconds is None:
            self._resume()
        else:
            self._remaining -= time.process_time() - self._since
            _limit_time(seconds)

    def _resume(self) -> None:
        self._since = time.process_time()
        _limit_time(max(math.ceil(self._remaining), 1))


def _limit_time(seconds: int) -> None:
    """End this process when it takes so much more CPU time."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        limit = int(time.process_time()) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (_at_most(limit, most), most))


def _limit_memory(memory: int) -> None:
    """The last line of defence, beyond the watch: no address space for more."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_at_most(memory + SPARE, most), most))
        except (OSError, ValueError):  # macOS knows the limit, but does not keep it
            return


def _at_most(limit: int, most: int) -> int:
    assert resource is not None
    return limit if most == resource.RLIM_INFINITY else min(limit, most)


class _MemoryWatch(threading.Thread):
    """Ends the process when it takes too much memory, or when the one that started it has gone.

    Where only the highest use so far is known, one above the limit from the start, which some
    systems hand down from the process that starts another, is left out of account.
    """

    def __init__(self, memory: int) -> None:
        super().__init__(daemon=True, name="memory-watch")
        self.busy = threading.Event()
        self._limit = max(memory, 0 if _STATM.exists() else resident() or 0)
        self._parent = os.getppid()

    def run(self) -> None:
        """Look every tenth of a second while a file is read."""
        while True:
            time.sleep(WATCH if self.busy.wait(IDLE) else 0)
            if (resident() or 0) > self._limit:
                os._exit(MEMORY_STATUS)
            if os.getppid() != self._parent:
                os._exit(0)


def resident() -> int | None:
    """Bytes of memory that this process holds (on Linux), or has held at most; None if unknown."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    if resource is None:
        return None
    most = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else most * 1024


def main() -> None:
    """Serve on standard input and output, which nothing else in this process can reach."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        serve(source, target)
    except BrokenPipeError:  # nobody waits any more
        os._exit(0)


if __name__ == "__main__":
    main()
