"""Threads for what waits for a disk, so that they are none of those that pages are made in."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = ThreadPoolExecutor(32, "disk")


async def on_disk(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What comes of work that writes, or waits for whoever writes; `asyncio.to_thread` reads."""
    call = partial(contextvars.copy_context().run, partial(work, *args, **options))
    return await asyncio.get_running_loop().run_in_executor(_THREADS, call)
