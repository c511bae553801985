"""A conversation as it is kept: questions, answers, and what they rest on."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from generator.answer import Answer, Mode
from indexing.errors import InvalidRequest

State = Literal["waiting", "reading", "writing", "done", "stopped", "failed"]

TITLE = 60  # characters of the first question that a list of conversations shows


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
        note: What went wrong, or how many are waiting before it.
    """

    question: str
    mode: Mode = "quote"
    documents: tuple[str, ...] = ()
    state: State = "waiting"
    text: str = ""
    answer: Answer | None = None
    note: str = ""

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
            f"a kept conversation cannot be read ({error.error_count()} faults); "
            "remove it from the list"
        ) from error


@cache
def _shape() -> TypeAdapter[Chat]:
    return TypeAdapter(Chat)
