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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeVar

from indexing.documents import Extract
from indexing.errors import ReaderFailed, UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders.__main__ import MEMORY_STATUS, resource
from indexing.loaders.messages import receive, send, unpack

KEPT = 256 * MIB  # a process that holds more memory than this after a file is not used again
PATIENCE = 10  # times as long as the CPU time allowed may pass, for a file that only waits
T = TypeVar("T")
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
_START += "from indexing.loaders.__main__ import main; main()"


class LoaderProcess:
    """A process that reads one file after another; it starts with the first.

    Threads may share it: each waits until the file before its own is read.

    Args:
        limits: Of each file.
    """

    def __init__(self, limits: FileLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a fork of that one needs its own

    def close(self) -> None:
        """End the process; reading another file starts one again."""
        with self._lock:
            self._end()

    def extracts(self, path: Path) -> list[Extract | UnreadableFile]:
        """What the loaders find in a file; the last entry says what broke it off, if anything did.

        Raises:
            ReaderFailed: No process can be started.
        """
        return self._exchange(path, {}, lambda message: self._found(message, path))

    def pages(self, path: Path, request: Mapping[str, str | int]) -> dict[str, Any]:
        """What `pdf_pages.answer` has to say to a request about a PDF.

        Raises:
            UnreadableFile: It cannot be drawn, or not within the limits.
            ReaderFailed: No process can be started.
        """

        def found(message: dict[str, Any]) -> dict[str, Any] | UnreadableFile:
            if "error" not in message and "exceeds" not in message:
                return message
            failure = self._found(message, path)
            assert isinstance(failure, UnreadableFile)
            return failure

        first = self._exchange(path, {"pages": dict(request)}, found)[0]
        if isinstance(first, UnreadableFile):
            raise first
        return first

    def _exchange(
        self,
        path: Path,
        request: dict[str, object],
        read: Callable[[dict[str, Any]], T | UnreadableFile],
    ) -> list[T | UnreadableFile]:
        """What a request about a file is answered with, and what broke it off."""
        with self._lock:
            process = self._running()
            found: list[T | UnreadableFile] = []
            overdue = threading.Event()
            timer = threading.Timer(self._longest_wait(), _kill, (process, overdue))
            timer.daemon = True
            timer.start()
            try:
                for message in self._messages(process, {"path": str(path), **request}):
                    found.append(read(message))
            except (EOFError, ValueError, OSError) as error:
                found.append(self._broken_off(process, path, overdue.is_set(), error))
                self._end()
            except BaseException:
                self._end()
                raise
            finally:
                timer.cancel()
            return found

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

    def _found(self, message: dict[str, Any], path: Path) -> Extract | UnreadableFile:
        exceeded = message.get("exceeds")
        if exceeded == "characters":
            reason = f"holds more than {self.limits.characters:,} characters of text"
            flag = f"--max-file-characters {2 * self.limits.characters}"
            return UnreadableFile(path, reason, f"split it, or allow it with {flag}")
        return self._too_much_memory(path) if exceeded else unpack(message, path)

    def _too_much_memory(self, path: Path) -> UnreadableFile:
        memory = self.limits.memory // MIB
        reason = f"takes more than {memory:,} MiB of memory to read"
        flag = f"--max-file-memory-mb {max(2 * memory, 1)}"
        return UnreadableFile(path, reason, f"split it, or allow it with {flag}")

    def _broken_off(
        self, process: subprocess.Popen[bytes], path: Path, overdue: bool, error: Exception
    ) -> UnreadableFile:
        """Why the process gave no more."""
        if isinstance(error, ValueError):
            process.kill()
        status = process.wait()
        if overdue or status == -getattr(signal, "SIGXCPU", 0) != 0:
            reason = f"takes more than {self.limits.seconds} seconds to read"
            flag = f"--max-file-seconds {2 * self.limits.seconds}"
            return UnreadableFile(path, reason, f"split it, or allow it with {flag}")
        if status == MEMORY_STATUS:
            return self._too_much_memory(path)
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        reason = f"crashes the program that reads it ({how})"
        return UnreadableFile(path, reason, "open it in its own program and save it again")

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none that this one may use."""
        if self._owner != os.getpid():
            self._process = None
        if self._process is None or self._process.poll() is not None:
            self._process, self._owner = self._started(), os.getpid()
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
            send(target, asdict(self.limits))
            receive(source, longest=MIB)
        except (EOFError, ValueError, OSError) as error:
            _, said = process.communicate()
            last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise ReaderFailed(
                f"the process that reads files has ended at its start ({last or error}); install "
                "rag-app again, or allow it more memory with --max-file-memory-mb"
            ) from error
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
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


def _kill(process: subprocess.Popen[bytes], overdue: threading.Event) -> None:
    overdue.set()
    process.kill()
