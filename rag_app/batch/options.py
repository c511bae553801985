"""The options of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from indexing.errors import InvalidRequest
from indexing.filter import Filter

if TYPE_CHECKING:
    from generator.answer import Mode
    from generator.request import ReadAs

Changed = Literal["stop", "keep", "ask"]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch is asked.

    Attributes:
        answer: "quote" or "free"; None takes the corpus's choice.
        k: Maximum number of documents to take evidence from.
        workers: Questions answered in parallel.
        limit: Maximum number of questions to ask in this run; None for all.
        retry_failed: Whether to ask questions again that failed, or were answered without a lost
            shard.
        changed: What to do with answers made with other settings, documents or questions:
            "stop" before asking anything, "keep" them, or "ask" these questions again. Answers
            to questions that are not in the file of questions are kept in any case.
        read_as: As `AskRequest.read_as`.
        where: Limits by collection, date and participants of whatever is asked.
    """

    answer: Mode | None = None
    k: int = 5
    workers: int = 1
    limit: int | None = None
    retry_failed: bool = False
    changed: Changed = "stop"
    read_as: ReadAs = "auto"
    where: Filter = field(default_factory=Filter)

    def __post_init__(self) -> None:
        if min(self.k, self.workers) < 1 or (self.limit is not None and self.limit < 1):
            raise InvalidRequest("k, workers and limit must be at least 1")
