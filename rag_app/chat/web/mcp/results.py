"""What the tools over MCP return, and how it is made of what a corpus says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, RootModel

from generator.answer import Answer
from generator.answer_json import as_json, schema
from generator.instances.instances import Instances
from generator.overview.commitments import CommitmentKind
from generator.overview.overview import Overview
from generator.overview.overview import Quote as DocumentQuote
from generator.register.entry import Entry, Register, State
from indexing.documents import Hit, PassageHit, clock
from rag_app.chat.web.file_names import file_name, without_places

MAX_MATTERS = 100  # of the register
NOT_SEARCHED = "Parts of the corpus that were lost, each with how many documents it holds."


class Span(BaseModel):
    """Characters `start` to `end` (exclusive) of a document."""

    document: str = Field(description="Id of the document; `read_passage` takes it.")
    title: str
    start: int
    end: int
    text: str
    speaker: str | None = None
    time: str | None = Field(None, description="HH:MM:SS from the start of the recording.")
    page: int | None = None
    place: str | None = Field(None, description='What the page is called: "page 4", "slide 4".')


class DocumentHit(BaseModel):
    """A document that matches a query, with its best passages."""

    document: str
    title: str
    path: str = Field(description="Name of its file.")
    date: str = Field("", description="In ISO 8601; empty for an unknown one.")
    score: float
    passages: list[Span]


class SearchResult(BaseModel):
    """Documents, best first."""

    documents: list[DocumentHit]
    not_searched: list[str] = Field([], description=NOT_SEARCHED)


class EveryResult(BaseModel):
    """A page of the places that say what was asked for, with how many there probably are."""

    about: float = Field(
        description="How many there probably are, by probability, those that were missed included."
    )
    low: float = Field(description="The lower end of an interval for it, of 90 percent.")
    high: float = Field(description="The upper end.")
    found: int = Field(
        description="How many were found that may say it, on all pages; it may exceed `about`."
    )
    start: int
    counted: bool = Field(
        description="Whether `found` is a count, as no place was found that says the number."
    )
    stated: DocumentHit | None = Field(None, description="The statement of the number.")
    documents: list[DocumentHit] = Field(
        description="From the earliest on; scores are probabilities, passages are sentences."
    )


class AnswerResult(RootModel[dict[str, Any]]):
    """An answer with everything needed to check it (`docs/answer.schema.json`)."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: object, handler: object) -> dict[str, Any]:
        """The schema of the form."""
        return schema()


class SpeakerWords(BaseModel):
    """Somebody who speaks in a document."""

    name: str
    words: int
    share: float = Field(description="Of all words that anyone says, 0 to 1.")


class TopicSpan(BaseModel):
    """A part of a document about one thing."""

    start: int
    end: int
    keywords: list[str]
    quote: Span = Field(description="Its most telling sentence.")


class ActionSpan(BaseModel):
    """Something that somebody is to do."""

    quote: Span = Field(description="The sentence that says so.")
    who: str | None = None
    when: str | None = Field(None, description="In the words of the quote.")


class OverviewResult(BaseModel):
    """What a document is about, in its own words."""

    document: str = Field(description="Id of the document; `read_passage` takes it.")
    title: str
    words: int
    length: str | None = Field(None, description="HH:MM:SS of a recording.")
    date: str = Field("", description="In ISO 8601, as the file says; empty for an unknown one.")
    participants: list[str] = Field([], description="As the file lists them.")
    speakers: list[SpeakerWords]
    topics: list[TopicSpan] = Field(description="In order; they cover the document.")
    decisions: list[Span]
    actions: list[ActionSpan]


class RegisterEntry(BaseModel):
    """A sentence that begins a matter, or says what became of it."""

    id: str
    tells: State = Field(description="What the matter is from here on.")
    quote: Span
    date: str = Field("", description="Of the document, in ISO 8601; empty for an unknown one.")
    who: str = ""
    until: str = Field("", description="In the words of the quote.")
    due: str = Field("", description="The day that they mean, in ISO 8601; empty if uncertain.")


class RegisterMatter(BaseModel):
    """A decision, an action or an open question, with all that was said of it."""

    id: str
    kind: CommitmentKind
    state: State
    who: str
    until: str
    due: str
    entries: list[RegisterEntry] = Field(description="The earliest first.")


class RegisterResult(BaseModel):
    """What was decided, is to be done, and is open, over all meetings."""

    meetings: int = Field(description="How many documents of meetings were read.")
    undated: int = Field(description="How many of them have no date.")
    total: int = Field(description="How many matters there are.")
    matters: list[RegisterMatter] = Field(description="From the first that was asked for.")


def passage_spans(hit: Hit, passage: PassageHit) -> Iterator[Span]:
    """A passage; of a search for what somebody says, each thing that they say in it."""
    whole = Span(
        document=hit.document,
        title=hit.title,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        speaker=passage.speaker,
        time=clock(passage.time),
        page=passage.page,
        place=passage.place,
    )
    if not passage.utterances:
        yield whole
    for one in passage.utterances:
        place = {"start": one.text_start, "end": one.end, "text": passage.words(one)}
        yield whole.model_copy(update={**place, "speaker": one.speaker, "time": clock(one.time)})


def document_hit(hit: Hit) -> DocumentHit:
    """A document with its passages, without the folder that it is in."""
    return DocumentHit(
        document=hit.document,
        title=hit.title,
        path=file_name(hit.path),
        date=hit.day,
        score=hit.score,
        passages=[span for each in hit.passages for span in passage_spans(hit, each)],
    )


def every_result(found: Instances) -> EveryResult:
    """A page of places, and the estimate."""
    stated = found.as_hits([found.stated]) if found.stated else []
    return EveryResult(
        about=found.estimate.number,
        low=found.estimate.low,
        high=found.estimate.high,
        found=found.found,
        start=found.start,
        counted=found.counted,
        stated=document_hit(stated[0]) if stated else None,
        documents=[*map(document_hit, found.hits)],
    )


def answer_result(answer: Answer) -> AnswerResult:
    """An answer in its one form, without folders of this machine."""
    return AnswerResult(dict(as_json(without_places(answer))))


def overview_result(about: Overview) -> OverviewResult:
    """What a document is about, as spans of it."""
    span = partial(_span, about.document, about.title)
    return OverviewResult(
        document=about.document,
        title=about.title,
        words=about.words,
        length=clock(about.seconds),
        date=about.occasion.date,
        participants=list(about.occasion.participants),
        speakers=[SpeakerWords.model_validate(one, from_attributes=True) for one in about.speakers],
        topics=[
            TopicSpan(start=one.start, end=one.end, keywords=[*one.keywords], quote=span(one.quote))
            for one in about.topics
        ],
        decisions=[span(each) for each in about.decisions],
        actions=[
            ActionSpan(quote=span(each.quote), who=each.who, when=each.when)
            for each in about.actions
        ],
    )


def register_result(register: Register, start: int) -> RegisterResult:
    """`MAX_MATTERS` matters of a register from one on."""
    return RegisterResult(
        meetings=register.meetings,
        undated=register.undated,
        total=len(register),
        matters=[
            RegisterMatter(
                **{
                    name: getattr(one, name)
                    for name in ("id", "kind", "state", "who", "until", "due")
                },
                entries=[_register_entry(each) for each in one.entries],
            )
            for one in register.matters[start : start + MAX_MATTERS]
        ],
    )


def _register_entry(one: Entry) -> RegisterEntry:
    about = {name: getattr(one, name) for name in ("id", "tells", "who", "until", "due")}
    return RegisterEntry(quote=_span(one.document, one.title, one.quote), date=one.day, **about)


def _span(document: str, title: str, quote: DocumentQuote) -> Span:
    """A sentence of an overview or of the register."""
    return Span(document=document, title=title, **{**asdict(quote), "time": clock(quote.time)})
