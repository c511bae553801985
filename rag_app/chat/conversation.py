"""A conversation as it is kept: questions, answers, and what they rest on."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter, ValidationError

from generator.answer import Answer, Mode
from generator.prompt.follow_up import Turn
from indexing.errors import InvalidRequest

State = Literal["waiting", "reading", "writing", "checking", "done", "stopped", "failed"]

if TYPE_CHECKING:
    from generator.position_check import PositionCheck

TITLE = 60  # characters of the first question that a list of conversations shows


@dataclass(frozen=True, slots=True)
class Tried:
    """An answer that was asked for again in another way.

    Attributes:
        order: Of the evidence.
        positions: How the model read positions; "" where that is as usual.
        text: What it answered.
        agreement: With the answer, 0 to 1.
        changed: Whether it is another answer.
    """

    order: str
    positions: str
    text: str
    agreement: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether an answer stays the same when its evidence stands elsewhere.

    Attributes:
        tried: Each way of asking.
        agreement: The mean of theirs.
        left_out: What could not be tried, and why.
    """

    tried: tuple[Tried, ...]
    agreement: float
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, check: PositionCheck) -> Checked:
        """What is kept of a check."""
        usual = check.answer.made.get("Ms-PoE", "")
        tried = tuple(
            Tried(
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
        """How many ways gave another answer."""
        return sum(each.changed for each in self.tried)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what came of it.

    Attributes:
        question: As it was asked.
        mode: How it was to be answered.
        documents: Ids of the documents asked; none for all.
        state: How far it has come.
        text: The answer as far as it has come, with its markers.
        answer: The whole answer, once it is there.
        note: What went wrong, or how many are waiting before it, or how far a check has come.
        check: Whether its answer depends on the place of its evidence, where that was checked.
    """

    question: str
    mode: Mode = "quote"
    documents: tuple[str, ...] = ()
    state: State = "waiting"
    text: str = ""
    answer: Answer | None = None
    note: str = ""
    check: Checked | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in {"done", "stopped", "failed"}


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation.

    Attributes:
        id: 16 hexadecimal digits.
        begun: When, ISO 8601, UTC.
        exchanges: Oldest first.
    """

    id: str
    begun: str
    exchanges: tuple[Exchange, ...] = ()

    @classmethod
    def new(cls) -> Chat:
        """An empty conversation."""
        return cls(secrets.token_hex(8), datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def title(self) -> str:
        """The beginning of the first question."""
        if not self.exchanges:
            return "New conversation"
        first = " ".join(self.exchanges[0].question.split())
        return first if len(first) <= TITLE else first[: TITLE - 1].rstrip() + "…"

    def upto(self, number: int) -> Chat:
        """The conversation before an exchange."""
        return replace(self, exchanges=self.exchanges[:number])

    def turns(self) -> tuple[Turn, ...]:
        """What was said, as the next answer is given it."""
        return tuple(Turn(each.question, each.text) for each in self.exchanges)

    def with_exchange(self, number: int, exchange: Exchange) -> Chat:
        """The conversation with one of its exchanges replaced."""
        kept = (*self.exchanges[:number], exchange, *self.exchanges[number + 1 :])
        return replace(self, exchanges=kept)

    def followed_by(self, exchange: Exchange) -> Chat:
        """The conversation with one more exchange."""
        return replace(self, exchanges=(*self.exchanges, exchange))


def to_json(chat: Chat) -> str:
    """A conversation as text that `from_json` reads."""
    return _shape().dump_json(chat).decode()


def from_json(text: str) -> Chat:
    """A conversation from what `to_json` wrote.

    Raises:
        InvalidRequest: It is something else.
    """
    try:
        return _shape().validate_json(text)
    except ValidationError as error:
        raise InvalidRequest(
            f"a saved conversation cannot be read ({error.error_count()} errors); "
            "remove it from the list"
        ) from error


@cache
def _shape() -> TypeAdapter[Chat]:
    return TypeAdapter(Chat)
