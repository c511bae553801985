"""What others may do: tests may run as root, who may do everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Inside, this process may do what is permitted to somebody without rights of their own.

    The program itself may lie where they may not read: what is used inside is imported before.
    """
    user = os.geteuid()
    try:
        os.seteuid(NOBODY if user == 0 else user)
        yield
    finally:
        os.seteuid(user)


@contextmanager
def readable_by_all() -> Iterator[None]:
    """Inside, new files may be read by everybody, whatever the tests were started with."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)
