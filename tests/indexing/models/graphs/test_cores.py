"""The cores are shared evenly, and only in the thread that takes part."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import torch

from indexing.models.graphs.cores import Cores, spread
from tests.waiting import PATIENCE


def test_whoever_comes_later_gets_a_smaller_share() -> None:
    cores = Cores(4)
    with ExitStack() as stack:
        assert [stack.enter_context(cores.share()) for _ in range(6)] == [4, 2, 1, 1, 1, 1]
    with cores.share() as threads:
        assert threads == 4


def test_pytorch_uses_the_share_in_this_thread_alone() -> None:
    before = torch.get_num_threads()
    cores, seen = Cores(3), dict[str, int]()
    inside, done = threading.Event(), threading.Event()

    def second() -> None:
        with cores.share():
            torch.ones(200, 200).softmax(1)  # where a thread begins to compute, it is told how
            seen["second"] = torch.get_num_threads()
            inside.set()
            assert done.wait(PATIENCE)

    thread = threading.Thread(target=second)
    with cores.share():
        thread.start()
        assert inside.wait(PATIENCE)
        seen["first"] = torch.get_num_threads()
        done.set()
        thread.join()
    torch.set_num_threads(before)
    assert seen == {"first": 3, "second": 1}


def test_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert Cores().count == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert Cores().count >= 1


@pytest.fixture
def two_cores() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_cores")
def test_work_is_spread_a_core_each() -> None:
    together = threading.Barrier(2, timeout=PATIENCE)

    def work(number: int) -> tuple[int, int]:
        together.wait()  # which nobody passes alone
        return number, torch.get_num_threads()

    assert spread(work, range(4)) == [(number, 1) for number in range(4)]
    assert torch.get_num_threads() == 2
    assert spread(lambda number: (number, torch.get_num_threads()), [7]) == [(7, 2)]
    assert spread(str, []) == []
    with pytest.raises(ZeroDivisionError):
        spread(lambda number: 1 // number, [1, 0])
    assert torch.get_num_threads() == 2
