"""QMSum's meetings with their queries: `.json` holds one meeting, `.jsonl` one a line.

Zhong et al., NAACL 2021. Documents are read by the loader of `rag-app index`; this adds the
queries. A file with a damaged meeting is refused as a whole: figures over a part of the data would
look like figures over all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document
from indexing.errors import UnreadableFile
from indexing.files import FileReader
from indexing.loaders.charset import decode, printable
from indexing.walk import Failure, walk

SUFFIXES = (".json", ".jsonl")
RELEASE = "fetch the file again from the QMSum release"


@dataclass(frozen=True, slots=True)
class MeetingQuestion:
    """A query of a meeting."""

    text: str
    answer: str  # the summary that answers it
    # numbers of the gold utterances, from 0, ascending; empty for a query about the whole
    utterances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedTopic:
    """A topic of a meeting."""

    title: str  # in the words of whoever marked it
    # first and last utterance of each run that is about it, from 0, both inclusive
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting and its queries."""

    document: Document  # its text, "speaker: content" a line, and its utterances
    general: tuple[MeetingQuestion, ...]  # queries about the whole meeting
    specific: tuple[MeetingQuestion, ...]  # queries with gold utterances
    topics: tuple[MarkedTopic, ...] = ()  # in the file's order


def meetings(path: Path) -> list[Meeting]:
    """The meetings of a file, or of a folder and its subfolders, without duplicates.

    Raises:
        UnreadableFile: There is no such path, no meeting in it, or a meeting that is damaged.
    """
    by_text: dict[str, Meeting] = {}
    with FileReader() as reader:
        for file in _files(path):
            documents = _documents(reader, file, named=file == path.resolve())
            objects = _objects(file) if documents else ()
            for document, values in zip(documents, objects, strict=True):
                by_text.setdefault(document.text, _meeting(file, document, values))
    if not by_text:
        raise UnreadableFile(path, "holds no QMSum meeting", "name a QMSum .json or .jsonl file")
    return list(by_text.values())


def _files(path: Path) -> Iterator[Path]:
    for file in walk([path]):
        if isinstance(file, Failure):
            raise UnreadableFile(file.path, file.reason, file.remedy)
        if file.suffix.lower() in SUFFIXES:
            yield file


def _documents(reader: FileReader, file: Path, *, named: bool) -> list[Document]:
    """The meetings of a file; none when a folder holds a file of another kind."""
    entries = reader.read(file)
    failures = [one for one in entries if isinstance(one, Failure)]
    if not named and len(failures) == len(entries) and all(one.other_kind for one in failures):
        return []
    for failure in failures:
        raise UnreadableFile(failure.path, failure.reason, failure.remedy)
    return [one for one in entries if isinstance(one, Document)]


def _objects(file: Path) -> list[dict[str, object]]:
    """The JSON objects of a file, which the loader has validated."""
    text = decode(file, file.read_bytes()).removeprefix("\ufeff")
    if file.suffix.lower() == ".json":
        return [json.loads(text)]
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _meeting(file: Path, document: Document, values: dict[str, object]) -> Meeting:
    utterances = len(document.utterances)
    return Meeting(
        document,
        general=tuple(_questions(file, values, "general_query_list", utterances)),
        specific=tuple(_questions(file, values, "specific_query_list", utterances)),
        topics=tuple(_topics(file, values, utterances)),
    )


def _topics(file: Path, values: dict[str, object], utterances: int) -> Iterator[MarkedTopic]:
    listed = values.get("topic_list", [])
    if not isinstance(listed, list):
        raise UnreadableFile(file, "has a `topic_list` that is not a list", RELEASE)
    for entry in listed:
        fields = entry if isinstance(entry, dict) else {}
        title = fields.get("topic")
        if not isinstance(title, str):
            reason = "has an entry in `topic_list` without the string `topic`"
            raise UnreadableFile(file, reason, RELEASE)
        spans = _spans(file, fields.get("relevant_text_span", []), utterances)
        yield MarkedTopic(printable(title), tuple(spans))


def _questions(
    file: Path, values: dict[str, object], name: str, utterances: int
) -> Iterator[MeetingQuestion]:
    listed = values.get(name, [])
    if not isinstance(listed, list):
        raise UnreadableFile(file, f"has a `{name}` that is not a list", RELEASE)
    for entry in listed:
        fields = entry if isinstance(entry, dict) else {}
        query, answer = fields.get("query"), fields.get("answer")
        if not isinstance(query, str) or not isinstance(answer, str):
            reason = f"has an entry in `{name}` without the strings `query` and `answer`"
            raise UnreadableFile(file, reason, RELEASE)
        gold = _gold(file, fields.get("relevant_text_span", []), utterances)
        yield MeetingQuestion(printable(query), printable(answer), gold)


def _gold(file: Path, spans: object, utterances: int) -> tuple[int, ...]:
    """Numbers of the utterances of spans, ascending."""
    gold: set[int] = set()
    for first, last in _spans(file, spans, utterances):
        gold.update(range(first, last + 1))
    return tuple(sorted(gold))


def _spans(file: Path, spans: object, utterances: int) -> Iterator[tuple[int, int]]:
    """Inclusive spans of utterances such as ["19", "89"], cut to the meeting."""
    reason = "has a `relevant_text_span` that is not a list of pairs of turn numbers"
    if not isinstance(spans, list):
        raise UnreadableFile(file, reason, RELEASE)
    for span in spans:
        try:
            first, last = (int(number) for number in span)
        except (TypeError, ValueError):
            raise UnreadableFile(file, reason, RELEASE) from None
        yield max(0, first), min(last, utterances - 1)
