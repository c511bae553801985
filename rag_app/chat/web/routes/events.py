"""GET /gradio_api/queue/data: the answers of a page's events, which outlive a connection.

Gradio drops every event of a page, and the answers it has not read, as soon as its stream breaks
off: a train in a tunnel, a tablet that sleeps, a proxy that closes. Here a stream is read on from
where it broke off. Each message has a number (the `id` of a server-sent event), `after` in the
query says which was read last, and what has not been read is kept for a while.

What else Gradio keeps of pages is bounded here: by itself it keeps the components of the latest
10,000 pages, a quarter of a megabyte each, and of each page more with every answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import orjson
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from gradio.server_messages import (
    CloseStreamMessage,
    EventMessage,
    HeartbeatMessage,
    ProcessCompletedMessage,
)

if TYPE_CHECKING:
    from gradio import Blocks

PATH = "/gradio_api/queue/data"
KEPT = 120.0
"""Seconds for which the events of a page go on without a connection."""
PAGES = 256
"""Latest pages whose components are kept; an older one begins with those of a new page."""
HEARTBEAT = 10.0
"""Seconds between two signs of life on a stream without answers."""
LOOK = 0.03
"""Seconds between looks at what Gradio has for a page."""
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def add(web: FastAPI, blocks: Blocks) -> EventStreams:
    """Answer in Gradio's place; before its application is mounted."""
    streams = EventStreams(blocks)
    blocks.state_session_capacity = PAGES

    async def data(session_hash: str, after: int = 0) -> StreamingResponse:
        messages = streams.read(session_hash, after=after)
        return StreamingResponse(messages, media_type="text/event-stream", headers=HEADERS)

    web.add_api_route(PATH, data, methods=["GET"], response_model=None)
    return streams


class EventStreams:
    """The streams of all pages, by session hash; `kept` is `KEPT` unless a test says otherwise."""

    def __init__(self, blocks: Blocks) -> None:
        self.kept = KEPT
        self.pages: dict[str, _Page] = {}  # that read, or may come back
        self._ending: set[asyncio.Task[None]] = set()
        self._blocks, self._queue = blocks, blocks._queue

    async def read(self, name: str, *, after: int = 0) -> AsyncIterator[bytes]:
        """A page's messages after that number as server-sent events, until all are answered."""
        page = self.pages.setdefault(name, _Page())
        reader = page.reader = object()  # a later connection takes over
        page.forget_until(after)
        beat = time.monotonic()
        try:
            while page.reader is reader:
                self._take(name, page)
                for number, message in page.later_than(after):
                    after, beat = number, time.monotonic()
                    yield message
                if self._is_answered(name) and not page.later_than(after):
                    yield _encode(CloseStreamMessage())
                    return
                if time.monotonic() > beat + HEARTBEAT:
                    beat = time.monotonic()
                    yield _encode(HeartbeatMessage())
                await asyncio.sleep(LOOK)
        finally:
            if page.reader is reader:
                asyncio.get_running_loop().call_later(self.kept, self._end, name, page, reader)

    def _is_answered(self, name: str) -> bool:
        """Whether no event of a page lacks its answer."""
        waiting = self._queue.pending_messages_per_session.get(name)
        pending = self._queue.pending_event_ids_session.get(name)
        return not pending and (waiting is None or waiting.empty())

    def _take(self, name: str, page: _Page) -> None:
        """Take what Gradio has for a page, of which it keeps the latest 2,000."""
        waiting = self._queue.pending_messages_per_session.get(name)
        while waiting is not None and not waiting.empty():
            message: EventMessage = waiting.get_nowait()
            page.add(message)
            if isinstance(message, ProcessCompletedMessage):
                self._queue.pending_event_ids_session.get(name, set()).discard(message.event_id)
                self._forget_copies(name)

    def _forget_copies(self, name: str) -> None:
        """Forget components that are none of the page's.

        Gradio makes a copy of a component for each `gr.skip()`, and keeps it, with the next value,
        by a number of its own.
        """
        state = self._blocks.state_holder.session_data.get(name)
        for kept in (state.blocks_config.blocks, state.config_values) if state else ():
            for id_ in set(kept) - set(self._blocks.blocks):
                del kept[id_]

    def _end(self, name: str, page: _Page, reader: object) -> None:
        """Forget a page unless it has come back, and end the events that it waits for."""
        if page.reader is not reader:
            return
        del self.pages[name]
        self._take(name, page)
        if self._is_answered(name):  # its next event makes new ones
            self._queue.pending_messages_per_session.pop(name, None)
            self._queue.pending_event_ids_session.pop(name, None)
        else:
            ending = asyncio.create_task(self._queue.clean_events(session_hash=name))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


class _Page:
    """The messages of one page that may have to be sent again, and who reads them."""

    def __init__(self) -> None:
        self.reader: object | None = None
        self._sent: deque[tuple[int, bytes]] = deque()
        self._number = 0

    def add(self, message: EventMessage) -> None:
        """Keep a message under a number that rises, whatever is forgotten in between."""
        self._number = max(self._number + 1, time.time_ns() // 1000)
        self._sent.append((self._number, _encode(message, self._number)))

    def later_than(self, number: int) -> list[tuple[int, bytes]]:
        """Messages after a number."""
        return [each for each in self._sent if each[0] > number]

    def forget_until(self, number: int) -> None:
        """Forget what was read, up to a number."""
        while self._sent and self._sent[0][0] <= number:
            self._sent.popleft()


def _encode(message: EventMessage, number: int | None = None) -> bytes:
    """A message as a server-sent event."""
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"data: " + orjson.dumps(message.model_dump(), default=str) + b"\n\n"
