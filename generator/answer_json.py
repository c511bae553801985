"""An answer as JSON: what it is, how it is written and read, and its JSON Schema.

Everything that hands an answer on as values writes this: `--json`, batches here and on a cluster,
the API, the MCP tools, exports and saved conversations. `docs/answer.schema.json` is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from generator.answer import (
    Answer,
    Citation,
    ContextEntry,
    Kind,
    Mode,
    Responsibility,
    SentenceSupport,
    ShortAnswer,
    ShownPassage,
    Support,
    TokenShares,
    marker_spans,
)
from indexing.documents import clock
from indexing.text.disfluency import without_noise

VERSION = 3
"""Raised with every change. 2 calls the configuration `made`; 1, without a number, has neither
`version` nor `time_seconds`."""

Value = TypeVar("Value")


class PlaceJson(TypedDict):
    """A verbatim quote and its place."""

    marker: Annotated[int, 'The number in the answer, as in "[1]".']
    document: Annotated[str, "Id of the document."]
    path: Annotated[str, "Its file."]
    title: str
    part: Annotated[str, "Which document of the file it is; empty where a file is one document."]
    start: Annotated[int, "First character in the document's text."]
    end: Annotated[int, "One past the last."]
    quote: Annotated[str, "These characters, exactly."]
    shown: Annotated[str, "The quote without what people say between words, for reading."]
    speaker: str | None
    time: Annotated[str | None, "HH:MM:SS from the start of the recording."]
    time_seconds: Annotated[float | None, "The same in seconds."]
    page: int | None
    place: Annotated[str | None, 'What the page is called, such as "page 4" or "slide 4".']
    figures: Annotated[list[str], "Captions of the figures beside it."]
    figure: Annotated[str, "Key of the figure in which a model has read this; empty for none."]
    day: Annotated[str, "Day or month of the document, ISO 8601; empty where it does not say."]
    order: Annotated[Literal["", "earlier", "later", "undated"], "Beside the first citation's day."]


class CitationJson(PlaceJson):
    """A quote that an answer rests on."""

    support: Annotated[Support, "Of what the answer says with it, by quote or in other words."]
    verified: Annotated[bool, "Whether the quote supports what the answer says with it."]
    overlap: Annotated[float, "Share of the sentence whose words are in the quote."]
    similarity: Annotated[float, "Cosine of sentence and quote."]
    share: NotRequired[Annotated[float, "Of the answer's tokens that the passage gave."]]
    verifier_probability: NotRequired[Annotated[float, "That an excerpt says it in other words."]]


class ShortJson(TypedDict):
    """The words of a quote that answer."""

    marker: Annotated[int, "The citation that they lie in."]
    document: str
    start: int
    end: int
    text: str
    probability: Annotated[float, "That these words answer, 0 to 1."]


class MarkerJson(TypedDict):
    """Where a marker stands in the text of the answer."""

    marker: int
    start: int
    end: int


class SentenceJson(TypedDict):
    """A sentence of a generated answer."""

    text: str
    support: Annotated[Support, "A verbatim quote, the same in other words, a figure, or nothing."]
    marker: int | None


class ContextJson(TypedDict):
    """How much of a document was read."""

    document: Annotated[str, "Empty for the conversation, and for documents that were lost."]
    title: str
    tokens: int
    kept: int
    dropped: int


class ShownPassageJson(TypedDict):
    """A passage that had a prompt of its own."""

    document: str
    title: str
    start: int
    end: int
    prior: float
    posterior: float
    share: float


class TokenJson(TypedDict):
    """A token, and how responsible each passage is for it."""

    text: str
    shares: list[float]


class ResponsibilityJson(TypedDict):
    """What each passage gave to an answer decoded over several."""

    passages: list[ShownPassageJson]
    tokens: list[TokenJson]


class AnswerJson(TypedDict):
    """An answer with everything needed to check it."""

    version: Annotated[int, "Of this form."]
    question: Annotated[str, "As asked."]
    query: Annotated[str, "What was looked up: the question, completed where it leans on others."]
    answer: Annotated[str, "The text with its markers."]
    short: Annotated[ShortJson | None, "Null where no words stand out."]
    citations: list[CitationJson]
    closest: Annotated[list[PlaceJson], "Of an abstention: what comes closest; no answer."]
    probability: Annotated[float | None, "That the documents answer; null where nothing says so."]
    markers: list[MarkerJson]
    sentences: Annotated[list[SentenceJson], "Of a generated answer."]
    unsupported: Annotated[list[str], "Sentences that nothing found supports."]
    context: Annotated[list[ContextJson], "How much of each document was read."]
    seconds: Annotated[dict[str, float], "Where the time went."]
    abstained: Annotated[bool, "Whether the documents do not say."]
    mode: Annotated[Mode, "Verbatim quotes, or a generated answer."]
    model: Annotated[str, "The language model; empty for none."]
    decoding: Annotated[str, "How it decoded over the documents; empty without one."]
    configuration: Annotated[dict[str, str], "What was on when it was made, and why, by part."]
    kind: Annotated[Kind, "What the question was read as."]
    read_as: Annotated[str, "The same in words; empty for a question of all documents."]
    responsibility: ResponsibilityJson | None


def as_json(answer: Answer) -> AnswerJson:
    """The answer as plain values."""
    values = {one.name: getattr(answer, one.name) for one in fields(answer)}
    values |= {name: _values(values[name]) for name in ("short", "responsibility")}
    values |= {name: [asdict(one) for one in values[name]] for name in ("sentences", "context")}
    values |= {name: dict(values[name]) for name in ("seconds", "configuration")}
    values |= {
        "version": VERSION,
        "answer": values.pop("text"),
        "citations": [_citation(citation) for citation in answer.citations],
        "closest": [place_json(citation) for citation in answer.closest],
        "markers": [asdict(one) for one in marker_spans(answer.text, answer.mode)],
        "unsupported": list(answer.unsupported),
    }
    return cast(AnswerJson, {name: values[name] for name in AnswerJson.__annotations__})


def _values(part: ShortAnswer | Responsibility | None) -> dict[str, Any] | None:
    """A part of an answer as JSON has it; None for none."""
    return None if part is None else json.loads(json.dumps(asdict(part)))


_OF_SUPPORT = ("verified", "overlap", "similarity", "share", "supported", "probability")


def place_json(citation: Citation) -> PlaceJson:
    """A quote and its place, without what it gives to an answer."""
    values = {name: value for name, value in asdict(citation).items() if name not in _OF_SUPPORT}
    values |= {"time": clock(citation.time), "time_seconds": citation.time}
    values |= {"figures": list(citation.figures), "shown": without_noise(citation.quote)}
    return cast(PlaceJson, values)


def _citation(citation: Citation) -> CitationJson:
    """A quote that an answer rests on; what was not computed for it is not there."""
    computed = {"share": citation.share, "verifier_probability": citation.probability}
    values = {
        **place_json(citation),
        "support": citation.support,
        "verified": citation.verified,
        "overlap": citation.overlap,
        "similarity": citation.similarity,
        **{name: value for name, value in computed.items() if value is not None},
    }
    return cast(CitationJson, values)


# Reading


def from_json(values: object) -> Answer:
    """The answer that `as_json` wrote, in this version or an earlier one; more fields are ignored.

    Raises:
        ValueError: It is none.
    """
    for fault in faults(AnswerJson, values):
        raise ValueError(fault)
    assert isinstance(values, Mapping)
    try:
        return _read(
            Answer,
            {
                "configuration": values.get("made", {}),  # before version 3
                **values,
                "text": values["answer"],
                "citations": tuple(map(_read_citation, values["citations"])),
                "closest": tuple(map(_read_citation, values.get("closest", ()))),
                "short": _read_maybe(ShortAnswer, values.get("short")),
                "sentences": tuple(_read_all(SentenceSupport, values.get("sentences", ()))),
                "unsupported": tuple(values["unsupported"]),
                "context": tuple(_read_all(ContextEntry, values["context"])),
                "mode": values["mode"],
                "responsibility": _read_responsibility(values.get("responsibility")),
            },
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no answer: {error}") from error


def _read(kind: type[Value], values: Mapping[str, Any]) -> Value:
    names = {one.name for one in fields(cast(Any, kind))}
    return kind(**{name: value for name, value in values.items() if name in names})


def _read_maybe(kind: type[Value], values: Mapping[str, Any] | None) -> Value | None:
    return None if values is None else _read(kind, values)


def _read_all(kind: type[Value], every: Any) -> Iterator[Value]:  # noqa: ANN401 - checked values
    return (_read(kind, each) for each in every)


def _read_citation(values: Mapping[str, Any]) -> Citation:
    time = values.get("time_seconds")
    if time is None and (stamp := values.get("time")):  # the first version has no other
        hours, minutes, seconds = map(int, stamp.split(":"))
        time = float(3600 * hours + 60 * minutes + seconds)
    own = {
        "time": time,
        "figures": tuple(values.get("figures", ())),
        "supported": values.get("support") == "supported",
        "probability": values.get("verifier_probability"),
    }
    return _read(Citation, {**values, **own})


def _read_responsibility(values: Mapping[str, Any] | None) -> Responsibility | None:
    if values is None:
        return None
    tokens = (TokenShares(one["text"], tuple(one["shares"])) for one in values["tokens"])
    return Responsibility(tuple(_read_all(ShownPassage, values["passages"])), tuple(tokens))


# What the form says of itself


def faults(kind: Any, value: object, place: str = "answer") -> Iterator[str]:  # noqa: ANN401 - a type
    """What is of another type than it should be, among the fields that are there."""
    kind, origin = _plain(kind), get_origin(_plain(kind))
    if is_typeddict(kind):
        if not isinstance(value, Mapping):
            yield f"{place} is no object"
            return
        for name, each in get_type_hints(kind, include_extras=True).items():
            if name in value:
                yield from faults(each, value[name], f"{place}.{name}")
    elif origin is list:
        if not isinstance(value, list | tuple):
            yield f"{place} is no list"
            return
        for number, one in enumerate(value):
            yield from faults(get_args(kind)[0], one, f"{place}[{number}]")
    elif origin is UnionType:
        if value is not None:
            yield from faults(get_args(kind)[0], value, place)
    elif not _is(kind, value):
        yield f"{place} is {value!r}"


def _is(kind: Any, value: object) -> bool:  # noqa: ANN401 - a type
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(
            isinstance(name, str) and _is(get_args(kind)[1], one) for name, one in value.items()
        )
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _plain(kind: Any) -> Any:  # noqa: ANN401 - a type
    """A type without what is said about it."""
    while get_origin(kind) in {Annotated, NotRequired}:
        kind = get_args(kind)[0]
    return kind


def schema(kind: Any = AnswerJson) -> dict[str, Any]:  # noqa: ANN401 - a type
    """The JSON Schema of the form."""
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "description": str(kind.__doc__),
            "properties": {name: schema(each) for name, each in hints.items()},
            "required": [
                name for name, each in hints.items() if get_origin(each) is not NotRequired
            ],
        }
    origin, within = get_origin(kind), get_args(kind)
    make: dict[Any, Callable[[], dict[str, Any]]] = {
        None: lambda: {"type": _NAMES[kind]},
        NotRequired: lambda: schema(within[0]),
        Annotated: lambda: {**schema(within[0]), "description": within[1]},
        UnionType: lambda: {"anyOf": [schema(one) for one in within]},
        Literal: lambda: {"enum": list(within)},
        list: lambda: {"type": "array", "items": schema(within[0])},
        dict: lambda: {"type": "object", "additionalProperties": schema(within[1])},
    }
    return make[origin]()


_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
