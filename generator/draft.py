"""An answer in progress: pieces, citations, active methods, and timings."""

from __future__ import annotations

import time

from generator.answer import (
    NOT_SAID,
    Answer,
    Citation,
    ContextEntry,
    ContextReady,
    Responsibility,
    SentenceSupport,
    ShortAnswer,
    TextDelta,
)
from generator.lm.calibration_record import AnswerMode
from generator.request import AskRequest


class Draft:
    """An answer in the making, and the clock that runs while it is made.

    Seconds that the search took count, too. The configuration says what is on, and why, by part.
    """

    def __init__(self, request: AskRequest, mode: AnswerMode, search: float | None) -> None:
        self.request, self.mode = request, mode.mode
        self.model = self.decoding = ""
        self.configuration = {"answer": str(mode)}
        self.responsibility: Responsibility | None = None
        self.citations: list[Citation] = []
        self.short: ShortAnswer | None = None
        self.closest: tuple[Citation, ...] = ()
        self.probability: float | None = None
        self.sentences: tuple[SentenceSupport, ...] = ()
        self._entries: tuple[ContextEntry, ...] = ()
        self._pieces: list[str] = []
        self._seconds = {} if search is None else {"search": search}
        self._lap = time.perf_counter()
        self._start = self._lap - (search or 0.0)

    def lap(self, name: str) -> None:
        """The time since the last lap goes to a part of the work."""
        now = time.perf_counter()
        self._seconds[name], self._lap = now - self._lap, now

    def context(self, entries: tuple[ContextEntry, ...]) -> ContextReady:
        """The ledger is known."""
        self._entries = entries
        self.lap("context")
        return ContextReady(entries)

    def text(self, piece: str) -> TextDelta:
        """More of the answer."""
        if not self._pieces:
            self._seconds["first"] = time.perf_counter() - self._start
        self._pieces.append(piece)
        return TextDelta(piece)

    @property
    def written(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    @property
    def abstained(self) -> bool:
        """Whether it says that the documents do not say."""
        return not self.written or self.written.startswith(NOT_SAID)

    def finish(self) -> Answer:
        """The answer as it is at the end."""
        self._seconds["total"] = time.perf_counter() - self._start
        return Answer(
            question=self.request.question,
            query=self.request.query,
            text=self.written,
            citations=tuple(self.citations),
            short=self.short,
            closest=self.closest,
            probability=self.probability,
            sentences=self.sentences,
            unsupported=tuple(
                each.text for each in self.sentences if each.support == "unsupported"
            ),
            context=self._entries,
            seconds={name: round(value, 4) for name, value in self._seconds.items()},
            abstained=self.abstained,
            mode=self.mode,
            model=self.model,
            decoding=self.decoding,
            configuration=self.configuration,
            responsibility=self.responsibility,
        )
