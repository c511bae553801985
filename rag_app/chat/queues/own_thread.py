"""Work in a thread of its own, so that it takes none of those that pages are made in."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_own_thread(work: Callable[[], T], *, name: str) -> asyncio.Future[T]:
    """What comes of work in a thread of that name, for which nobody waits when the server ends."""
    result = Future[T]()
    result.set_running_or_notify_cancel()  # nobody ends it but itself

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    call = contextvars.copy_context().run
    threading.Thread(target=call, args=[run], name=name, daemon=True).start()
    return asyncio.wrap_future(result)
