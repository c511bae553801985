"""Files of questions: text, CSV, JSON lines, and QMSum's meetings with their own queries."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest, UnreadableFile
from indexing.loaders.charset import clean, decode, printable
from rag_app.request_fields import RequestField, ask_request, fields_of

if TYPE_CHECKING:
    from generator.prompt.follow_up import Turn

SUFFIXES = (".txt", ".csv", ".jsonl", ".json")
SHAPE = 'give each question a line such as {"id": "q1", "question": "...", "document": "..."}'
DELIMITERS = ",;\t"
_OWN = ("id", "question", "document", "answer", "evidence")  # of a question, or of its labels
_OTHERS = ("model", "models")  # words that are like a field, but no misspelling of it
_NEAR = 0.8  # likeness of a misspelled field; other names are whoever's own notes


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a batch."""

    id: str  # names it within its file
    text: str
    # id, path, folder or title of the documents it is limited to; None for all
    document: str | None = None
    # digest of the document, if its content is known; then it is found under any name
    digest: str | None = None
    problem: str | None = None  # why it cannot be asked; None if it can
    # fields of its request, as `Corpus.ask` takes them
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str | None]:
        """The identity of the question across runs."""
        return self.id, self.text, self.document


def read_questions(path: Path) -> list[Question]:
    """The questions of a file, in its order; a folder is one of QMSum files.

    Questions without an id get one derived from their text and document, so that lines may be
    added anywhere between two runs.

    Raises:
        UnreadableFile: There is no such file, no question in it, or it is of another type.
    """
    if path.is_dir():
        return _of_meetings(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnreadableFile(path, "is not a file of questions", f"use {', '.join(SUFFIXES)}")
    text = _text(path)
    if suffix == ".json" or (suffix == ".jsonl" and _holds_meetings(text)):
        return _of_meetings(path)
    readers = {".txt": _lines, ".csv": _table, ".jsonl": _objects}
    questions = list(readers[suffix](path, text))
    if not questions:
        raise UnreadableFile(path, "holds no question", "write one per line")
    return _with_ids(path, questions)


def _text(path: Path) -> str:
    try:
        return clean(decode(path, path.read_bytes()))
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise UnreadableFile(path, reason, "check its name") from error


def _lines(path: Path, text: str) -> Iterator[Question]:
    """A question a line; blank lines and those that begin with # are skipped."""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            yield Question("", line.strip())


def _table(path: Path, text: str) -> Iterator[Question]:
    """Columns by name: question, and where there are any, id and document."""
    head = text.lstrip("\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UnreadableFile(path, f"is not CSV ({error})", "save it as CSV again") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    names = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "question" not in names:
        reason = f"has no column `question` (its first line is: {printable(head)[:80]})"
        raise UnreadableFile(path, reason, "name the columns id, question and document")
    for row in rows[1:]:
        cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
        fields = {name: cell for name, cell in cells.items() if cell}
        yield _question(
            cells.get("id", ""), cells.get("question", ""), cells.get("document"), fields
        )


def _objects(path: Path, text: str) -> Iterator[Question]:
    """A JSON object a line; a line that is none becomes a question that cannot be asked."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            yield Question(f"line-{number}", "", problem=f"line {number} is not JSON; {SHAPE}")
            continue
        yield _of_object(number, values)


def _of_object(number: int, values: object) -> Question:
    fields = values if isinstance(values, dict) else {}
    id_, text, document = (fields.get(name) for name in ("id", "question", "document"))
    if isinstance(id_, int):
        id_ = str(id_)
    valid = isinstance(text, str) and all(x is None or isinstance(x, str) for x in (id_, document))
    if not valid:
        name = id_ if isinstance(id_, str) and id_.strip() else f"line-{number}"
        problem = f"line {number} has no string `question`, or has values that are not strings"
        return Question(printable(name), "", problem=f"{problem}; {SHAPE}")
    assert isinstance(text, str)
    return _question(id_ or "", text, document, fields)


def _question(id_: str, text: str, document: str | None, values: Mapping[str, Any]) -> Question:
    text, document = clean(text).strip(), printable(document or "").strip() or None
    problem = None if text else "the question is empty; write one"
    fields: dict[str, Any] = {}
    try:
        fields = read_fields(values)
        ask_request("What?", fields)
    except InvalidRequest as error:
        problem = problem or str(error)
    return Question(printable(id_).strip(), text, document, problem=problem, fields=fields)


def read_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request among the values of a line, texts of a table read as what they are.

    Raises:
        InvalidRequest: One is of another kind, or its name is misspelled.
    """
    fields, known = {}, [one.name for one in fields_of("question file", "ask")]
    for name in values:
        if name in (*_OWN, *known):
            continue
        near = get_close_matches(name.lower(), ["question", "document", *known], 1, _NEAR)
        if near and name.lower() not in _OTHERS:
            raise InvalidRequest(f"no field {printable(name)[:80]!r}; did you mean {near[0]}?")
    for one in fields_of("question file", "ask"):
        value = values.get(one.name)
        if value is not None:
            fields[one.name] = _read_field(one, value)
    return fields


def _read_field(one: RequestField, value: Any) -> Any:  # noqa: ANN401 - of any kind
    try:
        if one.kind is list:
            return _turns(value)
        if one.kind is tuple:
            texts = value.split(";") if isinstance(value, str) else value
            return tuple(text.strip() for text in texts)
        if one.kind in {int, float} and not isinstance(value, bool):
            return one.kind(value)
        if isinstance(value, str):
            return value
    except (TypeError, ValueError, AttributeError, KeyError):
        pass
    raise InvalidRequest(f"`{one.name}` cannot be {printable(str(value))[:80]!r}")


def _turns(values: Iterable[Mapping[str, str]]) -> tuple[Turn, ...]:
    from generator.prompt.follow_up import Turn

    return tuple(Turn(one["question"].strip(), one["answer"].strip()) for one in values)


def read_turns(path: Path) -> tuple[Turn, ...]:
    """The turns of a file: JSON lines with `question` and `answer`, as a batch writes them.

    Raises:
        UnreadableFile: It is not there, or something else.
    """
    try:
        return _turns([json.loads(line) for line in _text(path).split("\n") if line.strip()])
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        remedy = 'give each turn a line such as {"question": "...", "answer": "..."}'
        raise UnreadableFile(path, "is not a conversation", remedy) from None


def _with_ids(path: Path, questions: Sequence[Question]) -> list[Question]:
    """The questions, each with an id; two of the same are refused."""
    named = Counter(question.id for question in questions if question.id)
    twice = next((id_ for id_, count in named.items() if count > 1), None)
    if twice is not None:
        raise UnreadableFile(path, f"has the id {twice!r} twice", "make the ids unique")
    return _distinct([replace(one, id=one.id or _digest(one)) for one in questions])


def _digest(question: Question) -> str:
    whole = f"{question.document or ''}\0{question.text}".encode("utf-8", "replace")
    return hashlib.sha256(whole).hexdigest()[:12]


def _holds_meetings(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        values = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(values, dict) and "meeting_transcripts" in values


def _of_meetings(path: Path) -> list[Question]:
    """Each meeting's own queries, limited to that meeting."""
    from rag_app.batch.qmsum import meetings

    result = []
    for meeting in meetings(path):
        document = meeting.document
        for kind, questions in (("general", meeting.general), ("specific", meeting.specific)):
            for number, question in enumerate(questions, 1):
                id_ = f"{document.title}-{kind}-{number}"
                text = question.text.strip()
                problem = None if text else "the question is empty; write one"
                result.append(Question(id_, text, document.title, document.digest, problem))
    if not result:
        raise UnreadableFile(path, "has meetings without queries", "ask them in a .jsonl file")
    return _distinct(result)


def _distinct(questions: Sequence[Question]) -> list[Question]:
    """The questions with a number after an id that an earlier one has."""
    counts = Counter[str]()
    distinct = []
    for question in questions:
        counts[question.id] += 1
        count = counts[question.id]
        id_ = question.id if count == 1 else f"{question.id}-{count}"
        distinct.append(replace(question, id=id_))
    return distinct
