"""Files read in a process of their own, within limits of time, memory and length.

A file is hostile until read: one of 29 kB may unpack to gigabytes, or keep a pattern busy for a
minute. What it does there to the memory, the clock or the interpreter ends that process and not
this one, the file is reported, and a new process reads the next. One is kept from file to file,
for starting one takes as long as reading many small files.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeVar

from indexing.documents import Extract
from indexing.error_log import write_log
from indexing.errors import ReaderFailed, UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders.__main__ import MEMORY_STATUS, resource
from indexing.loaders.messages import receive, send, unpack
from indexing.message import N_
from indexing.ocr.reading import OcrSettings, PictureReading

TOO_LONG = " seconds to read"
KEPT = 256 * MIB  # a process that holds more memory than this after a file is not used again
PATIENCE = 10  # times as long as the CPU time allowed may pass, for a file that only waits
T = TypeVar("T")
MOST_FAILURES = 20  # pages of a file that may end the process before the file is given up


Readings = MutableMapping[str, dict[str, Any]]
"""What was recognised in pictures, `PictureReading.pack()` by the key of each picture."""

PageProgress = Callable[[int, int], None]
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
_START += "from indexing.loaders.__main__ import main; main()"


class LoaderProcess:
    """A process that reads one file after another; it starts with the first.

    Threads may share it: each waits until the file before its own is read. It ends with `close`,
    when nothing refers to this object any more, or with the program.
    """

    def __init__(self, limits: FileLimits, ocr: OcrSettings | None = None) -> None:
        self.limits = limits
        self.ocr = ocr or OcrSettings()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a fork of that one needs its own
        self._end: Callable[[], object] = _nothing  # what is running

    def close(self) -> None:
        """End the process; reading another file starts one again."""
        with self._lock:
            self._end()

    def extracts(
        self,
        path: Path,  # the file
        *,
        readings: Readings | None = None,  # what is kept of pictures
        # called with the number of a page that OCR begins, and how many there are
        progress: PageProgress | None = None,
    ) -> list[Extract | UnreadableFile]:
        """What the loaders find in a file; the last entry says what broke it off, if anything did.

        A page whose picture ends the process is left out, and the file is read once more.

        Raises:
            ReaderFailed: No process can be started.
        """
        pictures = _Pictures({} if readings is None else readings, progress)
        with self._lock:
            while True:
                extracts = self._exchange(
                    path, {}, lambda message: self._extract(message, path), pictures
                )
                if not pictures.give_up_page(extracts[-1:], self.ocr.seconds):
                    return extracts

    def pages(self, path: Path, request: Mapping[str, str | int]) -> dict[str, Any]:
        """What `pdf.pages.answer` has to say to a request about a PDF.

        Raises:
            UnreadableFile: It cannot be drawn, or not within the limits.
            ReaderFailed: No process can be started.
        """

        def read(message: dict[str, Any]) -> dict[str, Any] | UnreadableFile:
            if "error" not in message and "exceeds" not in message:
                return message
            failure = self._extract(message, path)
            assert isinstance(failure, UnreadableFile)
            return failure

        with self._lock:
            first = self._exchange(path, {"pages": dict(request)}, read)[0]
        if isinstance(first, UnreadableFile):
            raise first
        return first

    def _exchange(
        self,
        path: Path,
        request: dict[str, object],
        read: Callable[[dict[str, Any]], T | UnreadableFile],
        pictures: _Pictures | None = None,
    ) -> list[T | UnreadableFile]:
        """What a request about a file is answered with, and what broke it off."""
        process = self._running()
        replies: list[T | UnreadableFile] = []
        overdue = _Overdue(process, self._longest_wait())
        try:
            for message in self._messages(process, {"path": str(path), **request}):
                if pictures is not None and "asks" in message:
                    overdue.cancel()  # who knows may have other work
                    known = pictures.known(message)
                    overdue.restart(self.ocr.seconds * PATIENCE)
                    send(_pipes(process)[1], {"reading": known})
                elif pictures is not None and "keeps" in message:
                    overdue.cancel()
                    pictures.keep(message)
                    overdue.restart(self._longest_wait())
                else:
                    replies.append(read(message))
        except (EOFError, ValueError, OSError) as error:
            replies.append(self._broken_off(process, path, overdue.has_killed, error))
            self._end()
        except BaseException:
            self._end()
            raise
        finally:
            overdue.cancel()
        return replies

    def _longest_wait(self) -> float:
        return self.limits.seconds * (1 if resource is None else PATIENCE)

    def _messages(
        self, process: subprocess.Popen[bytes], request: dict[str, object]
    ) -> Iterator[dict[str, Any]]:
        """Send a request, and give each message of its answer but the last."""
        source, target = _pipes(process)
        send(target, request)
        while "over" not in (message := dict(receive(source, longest=self.limits.memory))):
            yield message
        if int(message["over"]) > KEPT:
            self._end()

    def _extract(self, message: dict[str, Any], path: Path) -> Extract | UnreadableFile:
        exceeded = message.get("exceeds")
        if exceeded == "characters":
            reason = N_(
                "holds more than %(number)s characters of text",
                number=f"{self.limits.characters:,}",
            )
            flag = f"--max-file-characters {2 * self.limits.characters}"
            return UnreadableFile(
                path, reason, N_("split it, or allow it with %(option)s", option=flag)
            )
        return self._too_much_memory(path) if exceeded else unpack(message, path)

    def _too_much_memory(self, path: Path) -> UnreadableFile:
        memory = self.limits.memory // MIB
        reason = N_("takes more than %(number)s MiB of memory to read", number=f"{memory:,}")
        flag = f"--max-file-memory-mb {max(2 * memory, 1)}"
        return UnreadableFile(
            path, reason, N_("split it, or allow it with %(option)s", option=flag)
        )

    def _broken_off(
        self, process: subprocess.Popen[bytes], path: Path, overdue: bool, error: Exception
    ) -> UnreadableFile:
        """Why the process gave no more."""
        if isinstance(error, ValueError):
            process.kill()
        status = process.wait()
        if overdue or status == -getattr(signal, "SIGXCPU", 0) != 0:
            reason = N_("takes more than %(number)s seconds to read", number=self.limits.seconds)
            flag = f"--max-file-seconds {2 * self.limits.seconds}"
            return UnreadableFile(
                path, reason, N_("split it, or allow it with %(option)s", option=flag)
            )
        if status == MEMORY_STATUS:
            return self._too_much_memory(path)
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        reason = N_("crashes the program that reads it (%(how)s)", how=how)
        return UnreadableFile(path, reason, N_("open it in its own program and save it again"))

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none that this one may use."""
        if self._owner != os.getpid():
            self._process = None
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process, self._owner = self._started(), os.getpid()
            self._end = weakref.finalize(self, _end, self._process, self._owner)
        return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-P", "-c", _START, json.dumps(_import_path())]
        try:
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603 - this interpreter
        except OSError as error:
            raise ReaderFailed(
                f"no process can be started to read files ({error.strerror or error}); "
                "close other programs, then run the same command again"
            ) from error
        source, target = _pipes(process)
        try:
            send(target, {"limits": asdict(self.limits), "ocr": asdict(self.ocr)})
            receive(source, longest=MIB)
        except (EOFError, ValueError, OSError) as error:
            _, output = process.communicate()
            whole = output.decode("utf-8", "replace").strip()
            error.add_note(whole)
            last = whole.rpartition("\n")[2]
            raise ReaderFailed(
                f"the process that reads files has ended at its start ({last or error}); details: "
                f"{write_log(error)}; install rag-app again where this user may read it, or allow "
                "more memory with --max-file-memory-mb"
            ) from error
        return process


def _nothing() -> None:
    """End what never began."""


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process and close its pipes, unless it is that of the process which forked this one."""
    if owner != os.getpid():
        return
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        try:
            stream.close()
        except OSError:  # what could not be written
            continue
    process.wait()


def _import_path() -> list[str]:
    """Where this process finds modules, so that the other finds the same ones."""
    folders = [folder for folder in sys.path if Path(folder).is_absolute()]
    try:
        return folders if "" not in sys.path else [str(Path.cwd()), *folders]
    except FileNotFoundError:  # the working folder has been deleted
        return folders


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout is not None and process.stdin is not None
    return process.stdout, process.stdin


class _Overdue:
    """Kills a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self.has_killed = False
        self._process = process
        self._timer = self._started(seconds)

    def restart(self, seconds: float) -> None:
        """Wait so long from now."""
        self.cancel()
        self._timer = self._started(seconds)

    def cancel(self) -> None:
        """Wait no more."""
        self._timer.cancel()

    def _started(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._kill)
        timer.daemon = True
        timer.start()
        return timer

    def _kill(self) -> None:
        self.has_killed = True
        self._process.kill()


class _Pictures:
    """The pictures of a file: what is kept of them, and at which one the process has ended."""

    def __init__(self, readings: Readings, progress: PageProgress | None) -> None:
        self._readings = readings
        self._progress = progress
        self._failures: dict[str, dict[str, Any]] = {}
        self._begun: str | None = None

    def known(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """What is kept of the picture that a message names."""
        if self._progress:
            self._progress(int(message["page"]), int(message["of"]))
        key = str(message["asks"])
        known = self._failures.get(key) or self._readings.get(key)
        self._begun = key if known is None else None
        return known

    def keep(self, message: dict[str, Any]) -> None:
        """Keep what a message says was read.

        Raises:
            ValueError: It says something else.
        """
        self._readings[str(message["keeps"])] = PictureReading.unpack(message["reading"]).pack()
        self._begun = None

    def give_up_page(self, last: Sequence[object], seconds: int) -> bool:
        """Whether a page has ended the process, which then counts as unreadable."""
        if self._begun is None or len(self._failures) == MOST_FAILURES:
            return False
        (broken,) = last
        assert isinstance(broken, UnreadableFile)
        took_too_long = broken.reason.endswith(TOO_LONG)
        reason = f"takes more than {seconds}{TOO_LONG}" if took_too_long else broken.reason
        self._failures[self._begun] = PictureReading((), "", reason).pack()
        self._begun = None
        return True
