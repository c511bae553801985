"""Rounds: parts of a corpus score as one whole by telling one another what each alone cannot know.

Scoring is written once, as a generator: where it needs to know something of all documents (how
often a word occurs, how much a feature varies), it yields the share of its own part and is sent
what all shares come to. A corpus in one piece is a single part. Shares add up exactly, in whatever
order, so that neither their number nor which document is in which makes a difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any, Generic, Self, TypeVar

Whole = TypeVar("Whole")
Result = TypeVar("Result")


class Share(ABC, Generic[Whole]):
    """What one part gives to a round; it can be sent to another process."""

    @abstractmethod
    def merge(self, others: Sequence[Self]) -> Whole:
        """What all parts come to; `others` are those of the parts after this one."""


Rounds = Generator[Share[Any], Any, Result]


def exchange(share: Share[Whole]) -> Rounds[Whole]:
    """One round, by `yield from` within the generator of a part: what all shares come to."""
    whole: Whole = yield share
    return whole


def run_together(parts: Sequence[Rounds[Result]]) -> list[Result]:
    """Run the generators of all parts, one at least, round by round; the result of each."""
    whole: Any = None  # which begins a generator
    while True:
        shares, results = list[Share[Any]](), list[Result]()
        for part in parts:
            try:
                shares.append(part.send(whole))
            except StopIteration as stop:
                results.append(stop.value)
        if not shares:
            return results
        assert not results, "all parts have the same rounds"
        whole = shares[0].merge(shares[1:])
