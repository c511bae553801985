"""The cores are shared evenly, and only in the thread that takes part."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
import torch

from indexing.models.cores import Cores


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
            assert done.wait(60)

    thread = threading.Thread(target=second)
    with cores.share():
        thread.start()
        assert inside.wait(60)
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
