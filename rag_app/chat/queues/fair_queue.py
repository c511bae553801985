"""A queue of questions: one is answered at a time, or a few, fair between persons.

Whoever was served longest ago goes next; of one person's questions, the first. So somebody who asks
a hundred questions at once delays another person by one answer, not by a hundred.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from indexing.errors import Busy
from indexing.message import N_

MOST_WAITING = 64


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue; its number rises with the time of arrival."""

    who: str
    number: int
    _queue: FairQueue

    def wait(self, seconds: float) -> bool:
        """Wait until this ticket is called, at most so long; whether it was."""
        queue = self._queue
        with queue._changed:
            return queue._changed.wait_for(lambda: self in queue._serving, timeout=seconds)

    @property
    def ahead(self) -> int:
        """How many are served before it: those being served, and those who will be."""
        queue = self._queue
        with queue._changed:
            waiting, last_served = list(queue._waiting), dict(queue._last_served)
            if self not in waiting:
                return 0
            for before in range(len(waiting)):
                if _pop_next(waiting, last_served) is self:
                    return before + len(queue._serving)
            raise AssertionError("a ticket that waits is called at some time")


@dataclass(slots=True)
class FairQueue:
    """Who waits, who is served in how many places, and when each person was served last."""

    places: int = 1
    _numbers: Iterator[int] = field(default_factory=count)
    _waiting: list[Ticket] = field(default_factory=list)
    _last_served: dict[str, int] = field(default_factory=dict)
    _serving: list[Ticket] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def is_idle(self) -> bool:
        """Whether nobody is being served, and nobody waits."""
        with self._changed:
            return not self._serving and not self._waiting

    @contextmanager
    def ticket(self, who: str) -> Iterator[Ticket]:
        """Queue up, and leave the queue at the end, served or not.

        Raises:
            Busy: Too many wait already.
        """
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                raise Busy(
                    N_(
                        "%(number)s questions are waiting; try again in a minute",
                        number=len(self._waiting),
                    )
                )
            ticket = Ticket(who, next(self._numbers), self)
            self._waiting.append(ticket)
            self._call_next()
        try:
            yield ticket
        finally:
            with self._changed:
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                if ticket in self._serving:
                    self._serving.remove(ticket)
                self._call_next()

    def _call_next(self) -> None:
        while len(self._serving) < self.places and self._waiting:
            self._serving.append(_pop_next(self._waiting, self._last_served))
        if not self._waiting and not self._serving:
            self._last_served.clear()  # nobody is left to be fair to
        self._changed.notify_all()


def _pop_next(waiting: list[Ticket], last_served: dict[str, int]) -> Ticket:
    """Take the ticket that is served next out of the list, and note it as served."""
    following = min(waiting, key=lambda each: (last_served.get(each.who, -1), each.number))
    waiting.remove(following)
    last_served.pop(following.who, None)
    last_served[following.who] = max(last_served.values(), default=-1) + 1
    return following
