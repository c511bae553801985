"""A property that is computed once, and by several objects at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from indexing.cached_property import cached_property
from tests.waiting import PATIENCE


class Squared:
    """Counts how often it computes."""

    def __init__(self, number: int, meeting: Barrier | None = None) -> None:
        self.number, self.meeting, self.computed = number, meeting, 0

    @cached_property
    def value(self) -> int:
        """The square."""
        if self.meeting is not None:
            self.meeting.wait(PATIENCE)
        self.computed += 1
        return self.number**2


def test_it_is_computed_once() -> None:
    squared = Squared(7)
    assert (squared.value, squared.value, squared.computed) == (49, 49, 1)
    assert vars(squared)["value"] == 49
    assert Squared.value.__doc__ == "The square."


def test_two_objects_compute_at_the_same_time() -> None:
    """Neither could if the other held a lock: both wait inside for each other."""
    meeting = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda squared: squared.value, (Squared(2, meeting), Squared(3, meeting)))
        assert list(found) == [4, 9]
