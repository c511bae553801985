"""Cores: how many computations run at once in this process, and how many threads each may use.

Two questions with a thread each on two cores are done sooner than one after the other with two:
threads of one computation wait for each other after each operation, and for the Python between.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Cores:
    """The cores that this process may use, shared by those who compute.

    Args:
        count: How many; None asks the system and, as PyTorch does, `OMP_NUM_THREADS`.

    Attributes:
        count: How many.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or available_cores()
        self._sharing = 0
        self._lock = threading.Lock()

    @contextmanager
    def share(self) -> Iterator[int]:
        """Take part in computing; yields the threads that PyTorch uses for it in this thread.

        With whoever takes part already, the cores are shared evenly; those who began with more
        keep it until their end. Nothing is done as long as PyTorch is not imported.
        """
        with self._lock:
            self._sharing += 1
            threads = max(1, self.count // self._sharing)
        try:
            _use_threads(threads)
            yield threads
        finally:
            with self._lock:
                self._sharing -= 1
            _use_threads(self.count)  # PyTorch gives new threads what was set last


def spread(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Do some work of PyTorch for each item, several at once, each on one of this thread's cores.

    Returns:
        What it returned, in order.
    """
    import torch

    cores = torch.get_num_threads()
    if min(cores, len(items)) < 2:
        return [work(item) for item in items]

    def alone(item: T) -> R:
        _use_threads(1)
        return work(item)

    try:
        with ThreadPoolExecutor(min(cores, len(items)), "spread") as pool:
            return list(pool.map(alone, items))
    finally:
        _use_threads(cores)  # PyTorch gives new threads what was set last


def _use_threads(count: int) -> None:
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):  # else it is being imported
        torch.get_num_threads()  # a new thread takes what was set last, once, and then this
        torch.set_num_threads(count)


def available_cores() -> int:
    """How many this process may use: as `OMP_NUM_THREADS` says, else as the system does."""
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if setting.isdecimal() and int(setting):
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
