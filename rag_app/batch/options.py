"""The options of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from indexing.errors import InvalidRequest
from indexing.filter import Filter
from rag_app.request_fields import AskOptions, ask_request, limits_of

Changed = Literal["stop", "keep", "ask", "refresh"]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch is asked."""

    # of every request, as `Corpus.ask` takes them; a question's own come before them
    fields: AskOptions = field(default_factory=AskOptions)
    workers: int = 1  # questions answered in parallel
    limit: int | None = None  # maximum number of questions to ask in this run; None for all
    # whether to ask questions again that failed, or were answered without a lost shard
    retry_failed: bool = False
    # what to do with answers made with other settings, documents or questions: "stop" before asking
    # anything, "keep" them, or "ask" these questions again; "refresh" asks those again whose
    # answers are overtaken by changed documents (`rag_app.batch.refresh`), whatever the settings.
    # Answers to questions that are not in the file of questions are kept in any case
    changed: Changed = "stop"

    def __post_init__(self) -> None:
        if self.workers < 1 or (self.limit is not None and self.limit < 1):
            raise InvalidRequest("workers and limit must be at least 1")
        ask_request("What?", self.fields)  # which is refused, if they are

    @property
    def where(self) -> Filter:
        """What limits the documents of all questions."""
        return limits_of(self.fields)
