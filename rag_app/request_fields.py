"""Every field of a question, a search and a list of every place, once: name, kind, bounds, help.

The options of commands, the parameters of the MCP tools, the fields of the API, of a file of
questions and of LangChain's retriever are made of this table; the keyword arguments of
`Corpus.ask` (`AskOptions`) and what the page keeps of a question are compared with it by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args

from generator.answer import EvidenceUnit, Mode, ReadAs
from generator.answer_form import Form, Length

if TYPE_CHECKING:
    from generator.instances.every import EveryRequest
    from generator.prompt.follow_up import Turn
    from generator.request import AskRequest
    from indexing.filter import Filter
    from rag_app.corpus.shards.parts import SearchRequest

Act = Literal["ask", "search", "every"]
Surface = Literal[
    "command", "batch", "question file", "Python", "MCP", "API", "page", "search view", "LangChain"
]
"""What takes requests; `rag-app list` and others that only limit documents are not among them."""

RankingName = Literal["default", "dense", "bm25"]
Called = TypeVar("Called", bound=Callable[..., Any])

ACTS: dict[Surface, tuple[Act, ...]] = {
    "command": ("ask", "search", "every"),
    "batch": ("ask",),
    "question file": ("ask",),
    "Python": ("ask", "search", "every"),
    "MCP": ("ask", "search", "every"),
    "API": ("ask",),
    "page": ("ask",),
    "search view": ("search", "every"),
    "LangChain": ("search",),
}
"""What each surface does."""


@dataclass(frozen=True, slots=True)
class RequestField:
    """A field of a request."""

    name: str  # by which every surface takes it
    # a `Literal`, `int`, `float` or `str`; `tuple` for several texts, `list` for the turns of a
    # conversation
    kind: Any
    default: Any  # its value where it is left out
    help: str  # what it does, in one or two sentences
    # whether questions take it, searches, or lists of every place; several, or all
    acts: tuple[Act, ...] = ("ask", "search", "every")
    least: float | None = None
    most: float | None = None
    most_remote: int | None = None  # the greatest number over the network
    longest: int = 1000  # characters of a text over the network; of several texts, how many
    flag: str = ""  # its option where that is not `--NAME`, as for one of several texts
    former: str = ""  # its former name, with dashes where it was an option, which is still taken
    metavar: str | None = None  # what stands for its value in help
    absent: Mapping[Surface, str] = field(default_factory=dict)  # where it makes no sense, and why

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a `Literal`; none of another kind."""
        return get_args(self.kind)

    @property
    def option(self) -> str:
        """The option of a command."""
        return self.flag or f"--{self.name.replace('_', '-')}"


FILTER_FIELDS = (
    "documents", "path", "speaker", "collections", "since", "until", "participants",
)  # fmt: skip
_ASK: tuple[Act, ...] = ("ask",)
_SEARCH: tuple[Act, ...] = ("search",)
_EVERY: tuple[Act, ...] = ("every",)
_PAGE_LIMITS: dict[Surface, str] = {"page": "a question names them, and the documents are ticked"}

REQUEST_FIELDS = (
    RequestField(
        "mode", Mode, None,
        "Verbatim quotes only, or a generated answer.  [default: as calibrated for the model]",
        _ASK, former="--answer",
    ),
    RequestField(
        "k", int, 5, "Maximum number of documents.", _SEARCH, least=1, most_remote=100, flag="-k",
    ),
    RequestField(
        "k", int, 12, "Maximum number of documents.", _ASK, least=1, most_remote=100, flag="-k",
        absent={"page": "a question there is answered from the usual number"},
    ),
    RequestField(
        "passages", int, 3, "Maximum number of passages per document.", _SEARCH, least=1,
        most_remote=20, absent={"LangChain": "its k counts passages"},
    ),
    RequestField(
        "ranking", RankingName, "default", "Ranking method.", _SEARCH, former="--retriever",
        absent={"search view": "people search by the default; others are for measuring"},
    ),
    RequestField(
        "start", int, 0, "How many places to leave out, for the next page.", _EVERY, least=0,
    ),
    RequestField(
        "page", int, 20, "Places of a page.", _EVERY, least=1, most_remote=100,
        absent={"search view": "a page there has the usual number"},
    ),
    RequestField(
        "length", Length, "usual",
        "Short: one quote, or a sentence or two; long: every quote that may answer.", _ASK,
    ),
    RequestField(
        "form", Form, "usual",
        "Words: only those that answer, where some stand out; list: points of a list.  "
        "Quotes stand a line each; a language model is asked to keep to the form.", _ASK,
    ),
    RequestField(
        "read_as", ReadAs, "auto",
        'Answer requests such as "Who attended meeting-2?" by counting, and limit questions to the '
        "documents that they name; or look everything up as a question.", _ASK,
    ),
    RequestField(
        "evidence", EvidenceUnit, None,
        "What a language model reads: whole documents, best first, as many as fit; passages; or "
        "whole documents where its window has 32,000 tokens and it runs on no CPU.  "
        "[default: auto]", _ASK,
        absent={
            "page": "whoever starts the server decides what its model reads",
            "question file": "labelled questions have their gold evidence under this name",
        },
    ),
    RequestField(
        "abstain_below", float, None,
        "Say that the documents do not say where the probability that they do is below this; 0 "
        "always answers.  [default: as calibrated]", _ASK, least=0, most=1, metavar="PROBABILITY",
        absent={"page": "whoever starts the server sets the threshold"},
    ),
    RequestField(
        "history", list, (),
        "The conversation so far, oldest turn first, each with its question and answer; a "
        "follow-up is completed from it.", _ASK, longest=100, metavar="FILE",
        absent={
            "batch": "a file of questions has it for each question",
            "API": "the messages before the last are the conversation",
        },
    ),
    RequestField(
        "collections", tuple, (), "Only documents of these collections.  [default: all]",
        flag="--collection", metavar="NAME",
    ),
    RequestField(
        "documents", tuple, (), "Only these documents, by id or title.", flag="--document",
        absent={"batch": "a file of questions names those of each question"},
    ),
    RequestField(
        "path", str, None, 'Only files that match, for example "minutes/*.vtt".',
        absent=_PAGE_LIMITS,
    ),
    RequestField(
        "speaker", str, None, "Only what this person says.", absent=_PAGE_LIMITS
    ),
    RequestField(
        "since", str, None,
        "Only documents of this day, month or year, such as 2026-03, or later.", longest=100,
        metavar="DATE", absent=_PAGE_LIMITS,
    ),
    RequestField(
        "until", str, None, "Only documents of this time or earlier.", longest=100, metavar="DATE",
        absent=_PAGE_LIMITS,
    ),
    RequestField(
        "participants", tuple, (), "Only documents in which all of these people take part.",
        longest=100, flag="--participant", former="--with", metavar="NAME", absent=_PAGE_LIMITS,
    ),
)  # fmt: skip
"""In the order of help."""


def fields_of(surface: Surface, act: Act) -> Iterator[RequestField]:
    """The fields that a surface takes."""
    for one in REQUEST_FIELDS:
        if act in one.acts and surface not in one.absent:
            yield one


def request_field(name: str) -> RequestField:
    """The field of a name; of `k`, whose default a question has for itself, that of a search."""
    return next(one for one in REQUEST_FIELDS if one.name == name)


class _Limits(TypedDict, total=False):
    where: Filter | None
    documents: Sequence[str]
    path: str | None
    speaker: str | None
    collections: Sequence[str]
    since: str | None
    until: str | None
    participants: Sequence[str]


class SearchOptions(_Limits, total=False):
    """What `Corpus.search` takes beside the query: the fields of the table, or `where` for some."""

    k: int
    passages: int
    ranking: str


class EveryOptions(_Limits, total=False):
    """What `Corpus.every` takes beside the question: the fields of the table, or `where`."""

    start: int
    page: int


class AskOptions(_Limits, total=False):
    """What `Corpus.ask` takes beside the question: the fields of the table, or `where` for some.

    `answer` is the former name of `mode`.
    """

    k: int
    mode: Mode | None
    answer: Mode | None
    history: Sequence[Turn]
    read_as: ReadAs
    evidence: EvidenceUnit | None
    abstain_below: float | None
    length: Length
    form: Form


def ask_request(question: str, fields: Mapping[str, Any]) -> AskRequest:
    """A request made of the values of fields; those left out have their defaults.

    Raises:
        InvalidRequest: A value is out of bounds, a field unknown, or the question no text.
    """
    from generator.request import AskRequest

    values, where = _without_limits(_checked(question, "ask", fields))
    former = values.pop("answer", None)
    values["mode"] = values.get("mode") or former
    history = values.get("history") or ()
    values["history"] = tuple(history) if isinstance(history, Sequence) else (history,)
    return AskRequest(question, where=where, **values)


def search_request(query: str, fields: Mapping[str, Any]) -> SearchRequest:
    """A search made of the values of fields; those left out have their defaults.

    Raises:
        InvalidRequest: A value is out of bounds, a field unknown, or the query no text.
    """
    from rag_app.corpus.shards.parts import SearchRequest

    values, where = _without_limits(_checked(query, "search", fields))
    return SearchRequest(query, where=where, **values)


def every_request(question: str, fields: Mapping[str, Any]) -> EveryRequest:
    """A request for every place, made of the values of fields; those left out have their defaults.

    Raises:
        InvalidRequest: A value is out of bounds, a field unknown, or the question no text.
    """
    from generator.instances.every import EveryRequest

    values, where = _without_limits(_checked(question, "every", fields))
    return EveryRequest(question, where=where, **values)


def limits_of(fields: Mapping[str, Any]) -> Filter:
    """The filter that fields of a request make.

    Raises:
        InvalidRequest: A date is none.
    """
    return _without_limits(fields)[1]


def _checked(text: object, act: Act, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields, if the text is one and all of them are of the act."""
    from indexing.errors import InvalidRequest

    if not isinstance(text, str):
        raise InvalidRequest(f"a question is a string, not {type(text).__name__}")
    known = ["where", *(one.name for one in fields_of("Python", act))]
    former = ["answer", "abstain", "subject", "aliases"] if act == "ask" else []
    for name in fields.keys() - {*known, *former}:
        remedy = hint(name, known, f"there are {', '.join(known)}")
        raise InvalidRequest(f"no field {name!r}; {remedy}")
    return fields


def hint(name: str, known: Iterable[str], remedy: str) -> str:
    """What to do about an unknown name: the known one that is like it, or else the remedy."""
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else remedy


def _without_limits(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Filter]:
    """The fields that are none of a filter, and the filter that the others make.

    A filter given whole, as `where`, is limited further by those beside it.
    """
    from dataclasses import replace

    from indexing.filter import Filter

    values = dict(fields)
    where = values.pop("where", None) or Filter()
    limits = {name: values.pop(name) for name in FILTER_FIELDS if name in values}
    limits = {
        name: tuple(value) if request_field(name).kind is tuple else value
        for name, value in limits.items()
        if value
    }
    return values, replace(where, **limits) if limits else where


def spelled_out(options: type) -> Callable[[Called], Called]:
    """Shows `help` and editors the keyword arguments that a function takes as `**options`."""

    def with_signature(function: Called) -> Called:
        acts: dict[type, Act] = {SearchOptions: "search", EveryOptions: "every"}
        act = acts.get(options, "ask")
        defaults = {one.name: one.default for one in REQUEST_FIELDS if act in one.acts}
        named = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=kind)
            for name, kind in options.__annotations__.items()
            if name != "answer"
        ]
        return with_parameters(function, named)

    return with_signature


def with_parameters(
    function: Called, named: Iterable[Parameter], *, eval_str: bool = False
) -> Called:
    """The function; who looks at its signature sees these parameters in place of `**options`."""
    whole = signature(function, eval_str=eval_str)
    own = [one for one in whole.parameters.values() if one.kind != one.VAR_KEYWORD]
    function.__signature__ = whole.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    return function
