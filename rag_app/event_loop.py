"""An answer as it is made, for programs that run in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator
from typing import TypeVar

Item = TypeVar("Item")


async def stream_async(items: Iterator[Item]) -> AsyncGenerator[Item]:
    """The same items, each waited for in a thread, so that the event loop goes on meanwhile.

    `async for event in stream_async(corpus.stream(question))`. When the loop is left, or its task
    is cancelled, what makes the items is closed as soon as the one in hand is there: an answer
    that nobody waits for any more is not written to its end.
    """
    end = object()
    step: asyncio.Future[Item | object] | None = None
    try:
        while True:
            step = asyncio.ensure_future(asyncio.to_thread(next, items, end))
            item = await asyncio.shield(step)
            if item is end:
                return
            yield item  # type: ignore[misc] # all but the end are items
    finally:
        if step is not None and not step.done():
            step.add_done_callback(lambda done: _closed(items, done))
        else:
            _closed(items)


def _closed(items: Iterator[Item], step: asyncio.Future[Item | object] | None = None) -> None:
    """End what makes the items; an error of a step that nobody waited for is nobody's."""
    if step is not None and not step.cancelled():
        step.exception()
    if isinstance(items, Generator):
        items.close()
