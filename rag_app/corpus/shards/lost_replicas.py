"""Replicas of shards that failed to respond, and which of them are still away.

Whoever asks a process that hangs, or that is being started on another machine, waits for it. So it
is remembered, and called once more without anybody waiting: only when it answers that call is it
asked questions again. A call that fails is made again after a while, with the next question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

Call = Callable[[], bool | None]
"""Whether a call was answered; None while it is under way. It never waits."""

AGAIN = 2.0  # seconds from the beginning of a call that failed until the next


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica of a shard."""

    shard: str  # the shard's name
    number: int  # which of its replicas, from 0


@dataclass(frozen=True, slots=True)
class _Absence:
    """A replica that is away: how to call it, the call, and when that began."""

    begin: Callable[[], Call]
    call: Call
    begun: float


class LostReplicas:
    """The replicas that did not answer, until they do. Threads may share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._away: dict[Replica, _Absence] = {}
        self._lock = threading.Lock()

    def add(self, replica: Replica, begin: Callable[[], Call]) -> None:
        """Remember one that did not answer, and begin to call it, unless that is under way."""
        with self._lock:
            if replica not in self._away:
                self._away[replica] = _Absence(begin, begin(), self._clock())

    def remove(self, replica: Replica) -> None:
        """Forget one that has answered."""
        with self._lock:
            self._away.pop(replica, None)

    def current(self) -> frozenset[Replica]:
        """Those that are away now."""
        with self._lock:
            for replica, absence in list(self._away.items()):
                if (answered := absence.call()) is None:
                    continue
                if answered:
                    del self._away[replica]
                elif self._clock() - absence.begun >= AGAIN:
                    begin = absence.begin
                    self._away[replica] = _Absence(begin, begin(), self._clock())
            return frozenset(self._away)
