"""A stream in an event loop: the same items, nobody waits for it, and it ends when left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from rag_app.event_loop import stream_async
from tests.waiting import PATIENCE


class Source:
    """Yields numbers, each after `go` is set, and says when it began and when it was closed."""

    def __init__(self, *, go: bool = True) -> None:
        self.begun, self.go, self.closed = (threading.Event() for _ in range(3))
        self.made: list[int] = []
        if go:
            self.go.set()

    def __iter__(self) -> Iterator[int]:
        return self.items()

    def items(self) -> Iterator[int]:
        self.begun.set()
        try:
            for number in range(5):
                self.go.wait(PATIENCE)
                self.made.append(number)
                yield number
        finally:
            self.closed.set()


async def test_every_item_in_order_and_nothing_after_it() -> None:
    assert [item async for item in stream_async(iter(range(5)))] == [0, 1, 2, 3, 4]
    assert [item async for item in stream_async(iter([None, False]))] == [None, False]


async def test_the_loop_goes_on_while_an_item_is_made() -> None:
    source = Source(go=False)

    async def release() -> str:
        source.go.set()
        return "released"

    stream = stream_async(source.items())
    first, said = await asyncio.wait_for(asyncio.gather(anext(stream), release()), PATIENCE)
    assert (first, said) == (0, "released")
    await stream.aclose()


async def test_leaving_early_closes_what_makes_the_items() -> None:
    source = Source()
    async with aclosing(stream_async(source.items())) as stream:
        async for item in stream:
            if item == 1:
                break
    assert source.closed.is_set() and source.made == [0, 1]


async def test_a_cancelled_task_closes_it_once_the_item_in_hand_is_there() -> None:
    source = Source(go=False)
    task = asyncio.create_task(anext(stream_async(source.items())))
    assert await asyncio.to_thread(source.begun.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not source.closed.is_set()
    source.go.set()
    assert await asyncio.to_thread(source.closed.wait, PATIENCE)
    assert source.made == [0]


async def test_an_error_comes_through() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("two")

    seen = []
    with pytest.raises(ValueError, match="two"):
        async for item in stream_async(broken()):
            seen.append(item)
    assert seen == [1]
