"""The messages of the process that reads files, as JSON: nothing in a file is ever executed.

A message is eight bytes that say how long it is, then that many bytes of JSON.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import IO, Any

from indexing.documents import Extract, Figure, Occasion, Page, Utterance
from indexing.errors import OtherKind, PartUnread, ProgramFault, UnreadableFile
from indexing.message import restored, stored

ERRORS = {each.__name__: each for each in (UnreadableFile, OtherKind, PartUnread, ProgramFault)}
HEADER = 8  # bytes
MEDIA_TYPES = ("image/png", "image/jpeg")


def send(stream: IO[bytes], message: object) -> None:
    """Write a message."""
    data = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    encoded = data.encode("utf-8", "surrogatepass")
    stream.write(len(encoded).to_bytes(HEADER, "big"))
    stream.write(encoded)
    stream.flush()


def receive(stream: IO[bytes], *, longest: int) -> Any:  # noqa: ANN401 - JSON
    """Read a message.

    Raises:
        EOFError: The other process has ended.
        ValueError: What came is no message, or longer than `longest` bytes.
    """
    length = int.from_bytes(_exactly(stream, HEADER), "big")
    if length > longest:
        raise ValueError(f"a message of {length} bytes")
    return json.loads(_exactly(stream, length).decode("utf-8", "surrogatepass"))


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def pack(extract: Extract | UnreadableFile) -> dict[str, object]:
    """What a loader gives, as JSON has it."""
    if isinstance(extract, UnreadableFile):
        kind = type(extract).__name__
        return {"error": kind, "reason": stored(extract.reason), "remedy": stored(extract.remedy)}
    utterances = [(u.start, u.end, u.text_start, u.speaker, u.time) for u in extract.utterances]
    pages = [page.values for page in extract.pages]
    return {
        "text": extract.text,
        "title": extract.title,
        "part": extract.part,
        "utterances": utterances,
        "pages": pages,
        "breaks": extract.breaks,
        "occasion": asdict(extract.occasion),
        "format": extract.format,
        "figures": [
            {**figure.fields, "data": b64encode(figure.data).decode("ascii")}
            for figure in extract.figures
        ],
    }


def unpack(message: Any, path: object) -> Extract | UnreadableFile:  # noqa: ANN401 - JSON
    """The inverse of `pack`.

    Raises:
        ValueError: It is no such message, or its spans lie outside of its text.
    """
    try:
        if "error" in message:
            return ERRORS[message["error"]](
                path, restored(message["reason"]), restored(message["remedy"])
            )
        names = ("text", "title", "part", "format")
        text, title, part, format_ = (str(message[name]) for name in names)
        utterances = tuple(Utterance(*each) for each in message["utterances"])
        pages = tuple(Page(*each) for each in message["pages"])
        breaks = tuple(int(at) for at in message["breaks"])
        occasion = _occasion(message["occasion"])
        figures = tuple(to_figure(each) for each in message["figures"])
        _check([(u.start, u.text_start, u.end) for u in utterances], len(text))
        _check([(page.start, page.end) for page in pages], len(text))
        _check([(at,) for at in breaks], len(text))
        _check([(figure.start,) for figure in figures], len(text))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not what a loader gives: {error}") from error
    return Extract(text, title, part, utterances, pages, breaks, occasion, format_, figures)


def _occasion(values: dict[str, Any]) -> Occasion:
    date, date_source, participants_source = (
        str(values[f"{x}"]) for x in ("date", "date_source", "participants_source")
    )
    return Occasion(
        date, date_source, tuple(str(one) for one in values["participants"]), participants_source
    )


def to_figure(values: dict[str, Any]) -> Figure:
    """A figure from its fields and its data in Base64.

    Raises:
        ValueError: It is none.
    """
    figure = Figure(**{**values, "data": b64decode(values["data"], validate=True)})
    if figure.media_type not in MEDIA_TYPES or figure.key != sha256(figure.data).hexdigest():
        raise ValueError("a figure that is none")
    return figure


def _check(spans: Sequence[tuple[int, ...]], length: int) -> None:
    """Offsets ascend, span by span, and lie within the text."""
    before = 0
    for span in spans:
        for at in span:
            if not before <= at <= length:
                raise ValueError(f"the offset {at} is out of order")
            before = at
