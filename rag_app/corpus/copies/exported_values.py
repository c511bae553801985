"""The values of an exported document, each checked: an archive may be a stranger's.

What is not as a corpus would store it raises ValueError, KeyError or TypeError; `exchange` says of
which document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.documents import (
    NO_OCCASION,
    Document,
    Occasion,
    Page,
    Passage,
    Utterance,
    content_digest,
    renamed,
)
from indexing.errors import InvalidRequest
from indexing.loaders.charset import printable
from indexing.loaders.messages import to_figure
from indexing.store.collections import DEFAULT, NOBODY, collection_name, owner_name

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a document in a collection of an export."""

    collection: str  # its name
    path: str  # of the file that it came from there
    part: str  # which document of the file
    title: str  # what it is called there


def read_document(values: dict[str, Any]) -> Document:
    """A document with its utterances, pages and figures."""
    texts = ("id", "path", "part", "title", "format", "digest", "text", "metadata")
    named = {name: read_text(values[name]) for name in texts}
    if values["metadata"]:
        json.loads(values["metadata"])
    names = {
        read_text(label): read_text(name) for label, name in values.get("speaker_names", {}).items()
    }
    utterances = (
        Utterance(
            read_whole(a), read_whole(b), read_whole(c), _text_or_none(who), _number_or_none(time)
        )
        for a, b, c, who, time in values["utterances"]
    )
    return Document(
        **named,
        utterances=renamed(utterances, names),
        pages=tuple(_page(*each) for each in values["pages"]),
        breaks=tuple(map(read_whole, values["breaks"])),
        occasion=_occasion(values.get("occasion", asdict(NO_OCCASION))),
        figures=tuple(to_figure(each) for each in values.get("figures", ())),
    )


def _page(start: Any, end: Any, number: Any, name: Any = "", sure: Any = None) -> Page:  # noqa: ANN401 - JSON
    return Page(
        read_whole(start),
        read_whole(end),
        read_whole(number),
        read_text(name),
        _number_or_none(sure),
    )


def _occasion(values: dict[str, Any]) -> Occasion:
    date = read_text(values["date"])
    if date:
        datetime.fromisoformat(date)
    return Occasion(
        date,
        read_text(values["date_source"]),
        tuple(map(read_text, values["participants"])),
        read_text(values["participants_source"]),
    )


def read_passages(values: dict[str, Any]) -> list[Passage]:
    """The passages of a document, in order."""
    return [
        Passage(
            read_whole(start),
            read_whole(end),
            tuple(map(read_text, speakers)),
            _number_or_none(time),
            None if page is None else read_whole(page),
        )
        for start, end, speakers, time, page in values["passages"]
    ]


def check(document: Document, passages: list[Passage], vectors: FloatArray) -> None:
    """Everything that a verification looks at.

    Raises:
        ValueError: Something is not as a corpus would store it.
    """
    length = len(document.text)
    spans = [(one.start, one.end) for one in document.utterances]
    spans += [(page.start, page.end) for page in document.pages]
    if not passages or not document.id or not document.path:
        raise ValueError("no passage, id or path")
    if any(not 0 <= start <= end <= length for start, end in spans):
        raise ValueError("utterances or pages lie outside the text")
    if any(not 0 <= one.start < one.end <= length for one in passages):
        raise ValueError("passages lie outside the text")
    if not np.isfinite(vectors).all():
        raise ValueError("vectors are not finite")
    digest = content_digest(document.text, document.utterances, document.pages)
    if not document.metadata and document.digest != digest:
        raise ValueError("its text is not that of its digest")


def read_places(values: dict[str, Any], document: Document) -> Iterator[Place]:
    """Where a document is; in the default collection if the export is older than collections."""
    if "collections" not in values:
        yield Place(DEFAULT, document.path, document.part, document.title)
        return
    seen = set()
    for name, path, part, title in values["collections"]:
        yield Place(read_name(name), read_text(path), read_text(part), read_text(title))
        seen.add(name)
    if not seen or len(seen) != len(values["collections"]):
        raise ValueError("not once in each of one collection or more")


def read_name(value: object) -> str:
    """The name of a collection."""
    try:
        if collection_name(read_text(value)) == value:
            return read_text(value)
    except InvalidRequest:
        pass
    raise ValueError(f"no name of a collection: {str(value)[:40]!r}")


def read_owner(value: object) -> str:
    """The login name of a collection's owner, or that of nobody."""
    try:
        return NOBODY if value == NOBODY else owner_name(read_text(value))
    except InvalidRequest as error:
        raise ValueError(f"no owner: {str(value)[:40]!r}") from error


def read_text(value: object) -> str:
    """A text as a corpus stores it."""
    if not isinstance(value, str) or printable(value) != value:
        raise ValueError(f"not a text: {str(value)[:40]!r}")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else read_text(value)


def read_whole(value: object) -> int:
    """A whole number of at most 53 bits."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 1 << 53:
        raise ValueError(f"not a whole number: {str(value)[:40]!r}")
    return value


def _number_or_none(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not np.isfinite(value):
        raise ValueError(f"not a number: {str(value)[:40]!r}")
    return float(value)
