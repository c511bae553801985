"""What several corpora of one process use alike, loaded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class Shared(Generic[T]):
    """Objects by key, each for as long as anybody uses it."""

    def __init__(self) -> None:
        self._used: WeakValueDictionary[Hashable, T] = WeakValueDictionary()
        self._loading = Lock()

    def of(self, key: Hashable, load: Callable[[], T]) -> T:
        """The object of a key: the one that is in use, else a new one, which `load` returns.

        Raises:
            Exception: Whatever `load` raises; the next one tries again.
        """
        with self._loading:
            found = self._used.get(key)
            if found is None:
                found = self._used[key] = load()
            return found
