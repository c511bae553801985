"""A property that is computed once for each object, without a lock.

`functools.cached_property` is that from Python 3.12 on. In 3.11 it holds one lock for all objects
of a class while it computes, so that the searches of several people would wait for each other.
What several threads share guards itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - stands for the one of functools
        """Computes its value when it is first read, and keeps it in the object's `__dict__`."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: object | None, owner: type) -> Any:  # noqa: ANN401
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value  # which Python finds in `__dict__` from now on


__all__ = ["cached_property"]
