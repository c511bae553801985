"""What is loaded once for all that use it, and gone when nobody does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from indexing.models.shared import Shared


class Model:
    """Something that is slow to load."""


def test_one_is_loaded_for_all_that_use_it_and_another_once_nobody_does() -> None:
    shared = Shared[Model]()
    loads: list[int] = []

    def load() -> Model:
        loads.append(len(loads))
        return Model()

    first = shared.of("a", load)
    assert shared.of("a", load) is first
    assert shared.of("b", load) is not first
    assert loads == [0, 1]  # that of "b" was not kept
    shared.of("b", load)
    del first
    shared.of("a", load)
    assert loads == [0, 1, 2, 3]


def test_threads_that_ask_at_once_get_the_same() -> None:
    shared, together = Shared[Model](), Barrier(4)

    def ask(_: int) -> Model:
        together.wait()
        return shared.of("a", Model)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert all(each is found[0] for each in found)


def test_what_could_not_be_loaded_is_tried_again() -> None:
    shared = Shared[Model]()

    def fail() -> Model:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        shared.of("a", fail)
    assert isinstance(shared.of("a", Model), Model)
