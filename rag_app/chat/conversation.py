"""A conversation as it is stored: questions, answers and their citations.

The fields are those of the stored files; their names stay.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, InstanceOf, PlainSerializer, TypeAdapter, ValidationError

from generator import answer_json
from generator.answer import Answer, Mode, ReadAs
from generator.answer_form import Form, Length
from generator.position_check import PositionCheck
from generator.prompt.follow_up import Turn
from indexing.errors import InvalidRequest
from rag_app.chat.language.message_table import with_table, without_table

Rating = Literal["", "up", "down"]
State = Literal["waiting", "reading", "writing", "checking", "done", "stopped", "failed"]

TITLE = 60  # characters of the first question shown in the list of conversations


@dataclass(frozen=True, slots=True)
class PositionVariant:
    """An answer to the same question with its evidence in another order.

    `positions` is the state of Ms-PoE, "" if it is that of the answer; `agreement` with the answer
    is 0 to 1.
    """

    order: str
    positions: str
    text: str
    agreement: float
    changed: bool


@dataclass(frozen=True, slots=True)
class PositionCheckRecord:
    """Whether an answer depends on the position of its evidence, by the mean of its variants."""

    tried: tuple[PositionVariant, ...]
    agreement: float
    left_out: tuple[InstanceOf[str], ...] = ()

    @classmethod
    def of(cls, check: PositionCheck) -> PositionCheckRecord:
        """The record of a check."""
        usual = check.answer.configuration.get("Ms-PoE", "")
        tried = tuple(
            PositionVariant(
                each.order,
                "" if each.positions == usual else each.positions,
                each.answer.text,
                each.agreement,
                each.changed,
            )
            for each in check.variants
        )
        return cls(tried, check.agreement, check.left_out)

    @property
    def changed(self) -> int:
        """How many variants gave another answer."""
        return sum(each.changed for each in self.tried)


def _read_answer(values: object) -> object:
    """An answer of a file; earlier versions wrote its attributes as they are."""
    return (
        answer_json.from_json(values)
        if isinstance(values, dict) and "version" in values
        else values
    )


StoredAnswer = Annotated[
    Answer | None,
    BeforeValidator(_read_answer),
    PlainSerializer(lambda answer: answer and answer_json.as_json(answer)),
]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer."""

    question: str
    mode: Mode = "quote"
    documents: tuple[str, ...] = ()  # ids of the documents it is limited to; none for all
    state: State = "waiting"
    text: str = ""  # the answer so far, with its markers
    answer: StoredAnswer = None  # the complete answer, once it is there
    # an error, or how many questions are ahead, or the progress of a check
    note: InstanceOf[str] = ""
    check: PositionCheckRecord | None = None  # its position check, if there was one
    collections: tuple[str, ...] = ()  # names of the collections it is limited to; none for all
    length: Length = "usual"  # how long the answer was to be
    rating: Rating = ""  # what whoever asked thinks of the answer; "" for nothing
    form: Form = "usual"  # in what form
    read_as: ReadAs = "auto"  # "question" where it is looked up as it is, in all documents
    # the name of the standing question that it asks, as long as that is told of what is new; "" for
    # any other question
    standing: str = ""
    # whether nobody asked it: it tells what is new for the standing question of that name
    told: bool = False

    @property
    def over(self) -> bool:
        """Whether its state is final."""
        return self.state in {"done", "stopped", "failed"}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation."""

    id: str  # 16 hexadecimal digits
    begun: str  # time of its start, ISO 8601, UTC
    exchanges: tuple[Exchange, ...] = ()  # oldest first
    name: str = ""  # what its owner calls it; "" for the beginning of the first question
    # whether it stays at the top of the list, and is not deleted with the oldest
    pinned: bool = False

    @classmethod
    def new(cls) -> Conversation:
        """An empty conversation."""
        return cls(secrets.token_hex(8), datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def title(self) -> str:
        """Its name, or the beginning of the first question."""
        if self.name:
            return self.name
        if not self.exchanges:
            return "New conversation"
        first = " ".join(self.exchanges[0].question.split())
        return first if len(first) <= TITLE else first[: TITLE - 1].rstrip() + "…"

    def named(self, name: str) -> Conversation:
        """The conversation under another name, cut to one line of `TITLE` characters."""
        return replace(self, name=" ".join(name.split())[:TITLE].strip())

    def rated(self, number: int, rating: Rating) -> Conversation:
        """The conversation with an answer rated; the same rating again takes it back."""
        exchange = self.exchanges[number]
        rating = "" if exchange.rating == rating else rating
        return self.with_exchange(number, replace(exchange, rating=rating))

    @property
    def words(self) -> str:
        """What it is searched by: its title and questions, in lower case."""
        return " ".join([self.title, *(each.question for each in self.exchanges)]).lower()

    def upto(self, number: int | None) -> Conversation:
        """The conversation before an exchange; None for all of it."""
        return replace(self, exchanges=self.exchanges[:number])

    def goes_as(self, other: Conversation) -> bool:
        """Whether the same was asked and answered in another, whatever became of it after that."""
        mine, others = (
            [(each.question, each.state, each.text) for each in one.exchanges]
            for one in (self, other)
        )
        return mine == others

    def quotes(self, document: str) -> bool:
        """Whether an answer of it quotes a document, by id."""
        answers = [each.answer for each in self.exchanges if each.answer is not None]
        return any(
            document == each.document
            for answer in answers
            for each in (*answer.citations, *answer.closest)
        )

    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, for the prompt of the next answer."""
        return tuple(Turn(each.question, each.text) for each in self.exchanges if not each.told)

    def with_exchange(self, number: int, exchange: Exchange) -> Conversation:
        """The conversation with one of its exchanges replaced."""
        exchanges = (*self.exchanges[:number], exchange, *self.exchanges[number + 1 :])
        return replace(self, exchanges=exchanges)

    def followed_by(self, exchange: Exchange) -> Conversation:
        """The conversation with one more exchange."""
        return replace(self, exchanges=(*self.exchanges, exchange))


def to_json(conversation: Conversation) -> str:
    """A conversation as text that `from_json` reads."""
    return json.dumps(with_table(_adapter().dump_python(conversation)), ensure_ascii=False)


def from_json(text: str) -> Conversation:
    """A conversation from the text of `to_json`.

    Raises:
        InvalidRequest: It is something else.
    """
    try:
        return _adapter().validate_python(without_table(json.loads(text)))
    except (ValueError, RecursionError) as error:
        count = error.error_count() if isinstance(error, ValidationError) else 1
        raise InvalidRequest(
            f"a saved conversation cannot be read ({count} errors); remove it from the list"
        ) from error


@cache
def _adapter() -> TypeAdapter[Conversation]:
    return TypeAdapter(Conversation)
