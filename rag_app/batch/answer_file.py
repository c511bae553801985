"""The file of answers: one line of JSON per question, intact whenever the run is killed.

Answers are appended in the order of the questions, each with one write that is synced to disk. One
that is ready too early goes to a second file, `NAME.ahead`, and later to its place. A last line cut
off by a kill is removed at the next start, and only that question is asked again. Lines are
reordered only by writing a new file and renaming it. A file that holds anything else is left as it
is: a line that people edited must still be an answer, and blank lines mean nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import filelock

from generator.answer_json import from_json
from indexing.errors import InputError, InvalidRequest
from rag_app.output_file import put_in_place, writable

Key = tuple[str, str, str | None]
Json = dict[str, Any]
Fields = Mapping[str, tuple[type, ...]]

_TEXT: tuple[type, ...] = (str,)
_MAYBE_TEXT: tuple[type, ...] = (str, type(None))
_EVERY_LINE: Fields = {
    "id": _TEXT,
    "question": _TEXT,
    "document": _MAYBE_TEXT,
    "documents": (list,),
    "error": (dict, type(None)),
    "fingerprint": _TEXT,
    "settings": (dict,),
}
_DOCUMENT: Fields = {"id": _TEXT, "title": _TEXT}
_ERROR: Fields = {"kind": _TEXT, "message": _TEXT}
_SETTINGS: Fields = {"version": _TEXT, "k": (int,), "generator": (dict,), "encoder": (dict,)}
_GENERATOR: Fields = {"answer": _TEXT, "model": _TEXT}
# What a refresh needs: `rag_app.batch.refresh` and `rag_app.proof.standing`.
_AROUND: Fields = {"label": _MAYBE_TEXT, "before": _TEXT, "after": _TEXT}
_BEFORE: Fields = {
    "answer": _MAYBE_TEXT,
    "citations": (list,),
    "reason": _TEXT,
    "documents": (list,),
    "told": (bool,),
}
_FORMER: Fields = {
    **dict.fromkeys(("document", "path", "title", "part", "quote"), _TEXT),
    "start": (int,),
    "end": (int,),
    "now": (dict,),
}
_NOW: Fields = {"standing": _TEXT, "text": _TEXT}
# How each line begins: names in this order, each with its value.
_FIRST_FIELDS = (b'{"id": ', b', "question": ', b', "document": ')
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|null')


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of the file."""

    line: bytes  # newline included
    settings: str  # fingerprint of the settings
    documents: str  # fingerprint of the documents
    failed: bool  # whether it holds an error instead of an answer
    abstained: bool
    partial: bool  # whether it was made without the documents of a lost shard

    @property
    def record(self) -> Json:
        """The line, parsed."""
        values: Json = json.loads(self.line)
        return values


class AnswerFile:
    """A file of answers, open for one run at a time; it is made when it does not exist.

    Answers are kept in the order of the keys of all questions.

    Attributes:
        lines: The newest answer to each question, by key.
        truncated: Whether an incomplete last line was removed.

    Raises:
        InvalidRequest: Another run is writing to it, or it holds anything but answers.
        InputError: It cannot be written.
    """

    def __init__(self, path: Path, order: Sequence[Key]) -> None:
        self.path = path.resolve()
        self.ahead = self.path.with_name(f"{self.path.name}.ahead")
        self.lines: dict[Key, AnswerLine] = {}
        self.truncated = False
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
                self._keys = list(self._read(self.path))  # in the order of the lines
                list(self._read(self.ahead))
            if self.ahead.exists():
                self.finalize()
            self._in_order = self._keys == self._order[: len(self._keys)]
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
                self.finalize()
        finally:
            self._release()

    def add(self, key: Key, record: Json) -> None:
        """Add an answer; it is on disk when this returns.

        Raises:
            InputError: It cannot be written.
        """
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        self.lines[key] = _answer_line(line, record)
        with self._writable():
            if not self._is_next(key):
                _append(self.ahead, line)
                return
            while True:
                _append(self.path, self.lines[key].line)
                self._keys.append(key)
                if len(self._keys) == len(self._order):
                    return
                key = self._order[len(self._keys)]
                if key not in self.lines:
                    return

    def finalize(self) -> None:
        """Bring every answer to its place, and remove the second file."""
        with self._writable():
            known = set(self._order)
            order = [key for key in self._order if key in self.lines]
            order += [key for key in self.lines if key not in known]
            if self.ahead.exists() or order != self._keys:
                lines = (self.lines[key].line for key in order)
                put_in_place(self.path, b"".join(lines), synced=True)
                self._keys = order
            self.ahead.unlink(missing_ok=True)

    def _is_next(self, key: Key) -> bool:
        """Whether the file holds just the answers before this one."""
        at = len(self._keys)
        return self._in_order and at < len(self._order) and self._order[at] == key

    def _read(self, path: Path) -> Iterator[Key]:
        """Read the lines of a file, and remove an incomplete last one."""
        data = path.read_bytes() if path.exists() else b""
        whole, _, rest = data.rpartition(b"\n")
        for key, line in _answers(path, whole):
            self.lines[key] = line
            yield key
        if rest and (parsed := _parse(rest)):  # whole but for its newline
            _append(path, b"\n")
            self.lines[parsed[0]] = parsed[1]
            yield parsed[0]
        elif rest.strip():
            if _is_json(rest) or not _is_beginning(rest):
                raise InvalidRequest(f"{path}: is not a file of batch answers; name another --out")
            os.truncate(path, len(data) - len(rest))
            self.truncated = True

    def _writable(self) -> AbstractContextManager[None]:
        return writable(self.path, "make room, or name another --out")

    def _release(self) -> None:
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release()


def read_answers(path: Path) -> list[Json]:
    """The answers of a file, in its order, without those of the second file.

    Raises:
        InputError: It cannot be read.
        InvalidRequest: It holds something else.
    """
    try:
        whole, _, rest = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    answers = [line.record for _, line in _answers(path, whole)]
    if last := _parse(rest):
        answers.append(last[1].record)
    if not answers:
        raise InputError(f"{path}: holds no batch answers; make some with: rag-app batch")
    return answers


def _answers(path: Path, lines: bytes) -> Iterator[tuple[Key, AnswerLine]]:
    """The answers in complete lines, blank ones skipped; any other line is refused."""
    for number, line in enumerate(lines.split(b"\n"), 1):
        if not line.strip():
            continue
        parsed = _parse(line)
        if parsed is None:
            raise InvalidRequest(
                f"{path}: line {number} is not a batch answer; restore or remove that line, or "
                "name another --out"
            )
        yield parsed


def _parse(line: bytes) -> tuple[Key, AnswerLine] | None:
    """The key and the line, or None if it is not an answer."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not _is_answer(record):
        return None
    key = (record["id"], record["question"], record["document"])
    return key, _answer_line(line.rstrip(b"\r") + b"\n", record)


def _is_answer(record: object) -> bool:
    """Whether a line has the fields that its readers rely on, of the right types."""
    if not _has(record, _EVERY_LINE):
        return False
    assert isinstance(record, dict)
    former = record.get("before")
    if not all(_has(one, _DOCUMENT) for one in record["documents"]) or not _is_former(former):
        return False
    if record["error"] is not None:
        return _has(record["error"], _ERROR)
    try:
        from_json(record)
    except ValueError:
        return False
    quotes, settings = [*record["citations"], *record.get("closest", ())], record["settings"]
    around = all(_has(one, _AROUND) for one in quotes if "before" in one or "after" in one)
    if not around or not all(isinstance(one, str) for one in record.get("evidence", ())):
        return False
    return _has(settings, _SETTINGS) and _has(settings["generator"], _GENERATOR)


def _is_former(before: object) -> bool:
    """Whether it is none, or an answer that was replaced, with what became of its quotes."""
    if before is None:
        return True
    if not _has(before, _BEFORE):
        return False
    assert isinstance(before, dict)
    quotes = before["citations"]
    return all(_has(one, _FORMER) and _has(one["now"], _NOW) for one in quotes) and all(
        isinstance(one, str) for one in before["documents"]
    )


def _has(values: object, fields: Fields) -> bool:
    """Whether values are an object with these fields, each of one of its types."""
    return isinstance(values, dict) and all(
        name in values and isinstance(values[name], types) for name, types in fields.items()
    )


def _is_beginning(text: bytes) -> bool:
    """Whether an answer begins like this, as far as the text goes."""
    at = 0
    for name in _FIRST_FIELDS:
        if not text.startswith(name, at):
            return name.startswith(text[at:])
        at += len(name)
        value = _VALUE.match(text, at)
        if value is None:  # cut within it
            return text[at : at + 1] == b'"' or b"null".startswith(text[at:])
        at = value.end()
    return True


def _is_json(text: bytes) -> bool:
    """Whether it is complete JSON, which the beginning of an answer never is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _answer_line(line: bytes, record: Json) -> AnswerLine:
    settings, _, documents = record["fingerprint"].partition("-")
    failed, abstained = record["error"] is not None, bool(record.get("abstained"))
    partial = not failed and any(one.get("document") == "" for one in record["context"])
    return AnswerLine(line, settings, documents, failed, abstained, partial)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
