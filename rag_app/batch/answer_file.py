"""The file of answers: one line of JSON a question, never torn, whenever the run is killed.

Answers are appended in the order of the questions, each with one write that reaches the disk. One
that is ready before its turn goes to a second file beside it, `NAME.ahead`, and from there to its
place. A line that a kill has cut off is taken away at the next start, and so asked again: nothing
else is. Lines change places only by writing the whole file anew under another name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import filelock

from indexing.errors import InputError, InvalidRequest

Key = tuple[str, str, str | None]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A line of the file.

    Attributes:
        line: Its bytes, newline included.
        settings: Fingerprint of the settings.
        documents: Fingerprint of the documents.
        failed: Whether the question could not be answered.
        abstained: Whether the answer is that the documents do not say.
    """

    line: bytes
    settings: str
    documents: str
    failed: bool
    abstained: bool

    @property
    def record(self) -> Json:
        """What the line says."""
        values: Json = json.loads(self.line)
        return values


class AnswerFile:
    """A file of answers, open for one run at a time.

    Args:
        path: The file; it is made when it does not exist.
        order: The keys of all questions, as their answers shall stand.

    Attributes:
        kept: What is there, by key; the newest answer to each question.
        mended: Whether a line that was cut off has been taken away.

    Raises:
        InvalidRequest: Another run is writing to it, or it holds something else than answers.
        InputError: It cannot be written.
    """

    def __init__(self, path: Path, order: Sequence[Key]) -> None:
        self.path = path.resolve()
        self.ahead = self.path.with_name(f"{self.path.name}.ahead")
        self.kept: dict[Key, Kept] = {}
        self.mended = False
        self._order = list(order)
        self._lock = filelock.FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=0)
        with self._writable():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except filelock.Timeout:
                raise InvalidRequest(
                    f"{self.path}: another run is writing to it; wait until it is done"
                ) from None
        try:
            with self._writable():
                self._places = list(self._read(self.path))  # keys of the lines, as they stand
                list(self._read(self.ahead))
            if self.ahead.exists():
                self.settle()
            self._straight = self._places == self._order[: len(self._places)]
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> AnswerFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None or not issubclass(kind, InputError):  # the disk is not full
                self.settle()
        finally:
            self._release()

    def add(self, key: Key, record: Json) -> None:
        """Keep an answer; it is on the disk when this returns.

        Raises:
            InputError: It cannot be written.
        """
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        self.kept[key] = _kept(line, record)
        with self._writable():
            if not self._is_next(key):
                _append(self.ahead, line)
                return
            while True:
                _append(self.path, self.kept[key].line)
                self._places.append(key)
                if len(self._places) == len(self._order):
                    return
                key = self._order[len(self._places)]
                if key not in self.kept:
                    return

    def drop(self, keys: Sequence[Key]) -> None:
        """Forget answers; the file is without them when it is settled."""
        for key in keys:
            del self.kept[key]

    def settle(self) -> None:
        """Bring every answer to its place, and remove what was beside the file."""
        with self._writable():
            known = set(self._order)
            order = [key for key in self._order if key in self.kept]
            order += [key for key in self.kept if key not in known]
            if self.ahead.exists() or order != self._places:
                _replace(self.path, [self.kept[key].line for key in order])
                self._places = order
            self.ahead.unlink(missing_ok=True)

    def _is_next(self, key: Key) -> bool:
        """Whether the file holds just the answers before this one."""
        at = len(self._places)
        return self._straight and at < len(self._order) and self._order[at] == key

    def _read(self, path: Path) -> Iterator[Key]:
        """Take in the lines of a file, its last one mended."""
        data = path.read_bytes() if path.exists() else b""
        whole, _, rest = data.rpartition(b"\n")
        for number, line in enumerate(whole.split(b"\n") if whole else [], 1):
            parsed = _parsed(line)
            if parsed is None:
                raise InvalidRequest(
                    f"{path}: line {number} is not a batch answer; name another --out"
                )
            self.kept[parsed[0]] = parsed[1]
            yield parsed[0]
        if rest and (parsed := _parsed(rest)):  # whole but for its newline
            _append(path, b"\n")
            self.kept[parsed[0]] = parsed[1]
            yield parsed[0]
        elif rest:
            if _is_json(rest) or not (whole or rest.startswith(b"{")):
                raise InvalidRequest(f"{path}: is not a file of batch answers; name another --out")
            os.truncate(path, len(data) - len(rest))
            self.mended = True

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written ({error.strerror or error}); "
                "make room, or name another --out"
            ) from error

    def _release(self) -> None:
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release()


def read_answers(path: Path) -> list[Json]:
    """The answers of a file as they stand, those ahead of their turn left out.

    Raises:
        InputError: It cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    found = [one[1].record for one in map(_parsed, lines) if one]
    if not found:
        raise InputError(f"{path}: holds no batch answers; make some with: rag-app batch")
    return found


def _parsed(line: bytes) -> tuple[Key, Kept] | None:
    """The key and the line, or None for what no run has written."""
    try:
        record = json.loads(line)
        key = (record["id"], record["question"], record["document"])
        return key, _kept(line + b"\n", record)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_json(text: bytes) -> bool:
    """Whether it is whole, which the beginning of an answer never is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _kept(line: bytes, record: Json) -> Kept:
    settings, _, documents = record["fingerprint"].partition("-")
    return Kept(
        line, settings, documents, record["error"] is not None, bool(record.get("abstained"))
    )


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, lines: Sequence[bytes]) -> None:
    """Write a file anew, at once or not at all."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
