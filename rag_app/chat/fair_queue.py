"""The line in front of the model: one question at a time, and nobody waits behind a crowd of one.

Whoever was served longest ago goes next; of one person's questions, the first asked. So somebody
who asks a hundred questions at once delays another person by one answer, not by a hundred.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from indexing.errors import Busy

MOST_WAITING = 64


@dataclass(eq=False, slots=True)
class Place:
    """A place in the line.

    Attributes:
        who: Whose question it is.
        ticket: Rises with the time of arrival.
    """

    who: str
    ticket: int
    _line: Line

    def wait(self, seconds: float) -> bool:
        """Wait for the turn, at most so long; whether it has come."""
        return self._line.wait(self, seconds)

    @property
    def ahead(self) -> int:
        """How many are served before."""
        return self._line.ahead(self)


@dataclass(slots=True)
class Line:
    """Who waits, who is served, and when each person was served last."""

    _tickets: Iterator[int] = field(default_factory=count)
    _waiting: list[Place] = field(default_factory=list)
    _served: dict[str, int] = field(default_factory=dict)
    _turn: Place | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def place(self, who: str) -> Iterator[Place]:
        """Stand in the line, and leave it at the end, served or not.

        Raises:
            Busy: Too many wait already.
        """
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                raise Busy(f"{len(self._waiting)} questions are waiting; try again in a minute")
            place = Place(who, next(self._tickets), self)
            self._waiting.append(place)
            self._call_next()
        try:
            yield place
        finally:
            with self._changed:
                if place in self._waiting:
                    self._waiting.remove(place)
                if self._turn is place:
                    self._turn = None
                self._call_next()

    def wait(self, place: Place, seconds: float) -> bool:
        """As `Place.wait`."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn is place, timeout=seconds)
            return self._turn is place

    def ahead(self, place: Place) -> int:
        """As `Place.ahead`: the one being served and those who will be, as things stand."""
        with self._changed:
            if place not in self._waiting:
                return 0
            order, served = list(self._waiting), dict(self._served)
            for before in range(len(order)):
                following = min(order, key=lambda each: (served.get(each.who, -1), each.ticket))
                if following is place:
                    return before + (self._turn is not None)
                order.remove(following)
                served[following.who] = max(served.values(), default=-1) + 1
            raise AssertionError("whoever waits has a place")

    def _call_next(self) -> None:
        if self._turn is None and self._waiting:
            following = min(
                self._waiting, key=lambda each: (self._served.get(each.who, -1), each.ticket)
            )
            self._waiting.remove(following)
            self._served.pop(following.who, None)
            self._served[following.who] = max(self._served.values(), default=-1) + 1
            self._turn = following
        if not self._waiting and self._turn is None:
            self._served.clear()  # nobody is left to be fair to
        self._changed.notify_all()
