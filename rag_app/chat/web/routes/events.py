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
    """The streams of all pages.

    Args:
        blocks: The Gradio application, whose queue runs the events.

    Attributes:
        kept: Seconds for which the events of a page go on without a connection.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.kept = KEPT
        self._blocks = blocks
        self._sessions: dict[str, _Session] = {}

    @property
    def pages(self) -> frozenset[str]:
        """Session hashes of the pages that read, or may come back."""
        return frozenset(self._sessions)

    async def read(self, name: str, *, after: int = 0) -> AsyncIterator[bytes]:
        """A page's messages as server-sent events, until all of its events are answered.

        Args:
            name: The page's session hash.
            after: Number of the last message that was read; 0 for none.

        Yields:
            One message each.
        """
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = _Session(self._blocks, name)
            session.pump = asyncio.create_task(self._pump(session))
        reader = session.begin(after)
        try:
            while session.reader is reader:  # a later connection takes over
                session.changed.clear()
                for number, data in session.later_than(after):
                    after = number
                    yield data
                if session.is_answered and not session.later_than(after):
                    yield _encode(CloseStreamMessage())
                    return
                if not await session.changes_within(HEARTBEAT):
                    yield _encode(HeartbeatMessage())
        finally:
            session.end(reader)

    async def _pump(self, session: _Session) -> None:
        """Move a session's messages from Gradio's queue to ours until nobody reads them."""
        while (left := session.left(self.kept)) > 0:
            await session.take(min(left, 1.0))
        del self._sessions[session.name]
        if session.is_answered:
            session.forget()
        else:  # the page is gone
            await self._blocks._queue.clean_events(session_hash=session.name)


class _Session:
    """The messages of one page that may have to be sent again."""

    def __init__(self, blocks: Blocks, name: str) -> None:
        self.name = name
        self.reader: object | None = None
        self.changed = asyncio.Event()
        self.pump: asyncio.Task[None] | None = None
        self._blocks, self._queue = blocks, blocks._queue
        self._sent: deque[tuple[int, bytes]] = deque()
        self._number = 0
        self._alone_since = time.monotonic()

    @property
    def is_answered(self) -> bool:
        """Whether no event lacks its answer."""
        waiting = self._queue.pending_messages_per_session.get(self.name)
        pending = self._queue.pending_event_ids_session.get(self.name)
        return not pending and (waiting is None or waiting.empty())

    def begin(self, after: int) -> object:
        """A new reader, who has read up to a number."""
        while self._sent and self._sent[0][0] <= after:
            self._sent.popleft()
        self.reader = object()
        self.changed.set()  # the one before ends
        return self.reader

    def end(self, reader: object) -> None:
        """A reader has gone."""
        if self.reader is reader:
            self.reader = None
            self._alone_since = time.monotonic()

    def left(self, kept: float) -> float:
        """Seconds until nobody will come any more."""
        if self.reader:
            return kept
        if self.is_answered and not self._sent:
            return 0
        return self._alone_since + kept - time.monotonic()

    def later_than(self, number: int) -> list[tuple[int, bytes]]:
        """Messages after a number."""
        return [each for each in self._sent if each[0] > number]

    async def changes_within(self, timeout: float) -> bool:
        """Whether anything changes within some seconds."""
        try:
            await asyncio.wait_for(self.changed.wait(), timeout)
        except TimeoutError:
            return False
        return True

    async def take(self, timeout: float) -> None:
        """Take what Gradio has for the page, if it comes within some seconds."""
        waiting = self._queue.pending_messages_per_session.get(self.name)
        if waiting is None:  # Gradio keeps those of the latest 2,000 pages
            await asyncio.sleep(min(timeout, 0.1))
            self.changed.set()
            return
        try:
            message: EventMessage = await asyncio.wait_for(waiting.get(), timeout)
        except TimeoutError:
            return
        # Microseconds: no number comes twice, whatever is forgotten in between.
        self._number = max(self._number + 1, time.time_ns() // 1000)
        self._sent.append((self._number, _encode(message, self._number)))
        if isinstance(message, ProcessCompletedMessage):
            self._queue.pending_event_ids_session.get(self.name, set()).discard(message.event_id)
            self._forget_copies()
        self.changed.set()

    def forget(self) -> None:
        """Forget the queues of a page that has all its answers; its next event makes new ones."""
        self._queue.pending_messages_per_session.pop(self.name, None)
        self._queue.pending_event_ids_session.pop(self.name, None)

    def _forget_copies(self) -> None:
        """Forget components that are none of the page's.

        Gradio makes a copy of a component for each `gr.skip()`, and keeps it, with the next value,
        by a number of its own.
        """
        state = self._blocks.state_holder.session_data.get(self.name)
        if state is None:
            return
        for kept in (state.blocks_config.blocks, state.config_values):
            for id_ in set(kept) - set(self._blocks.blocks):
                del kept[id_]


def _encode(message: EventMessage, number: int | None = None) -> bytes:
    """A message as a server-sent event."""
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"data: " + orjson.dumps(message.model_dump(), default=str) + b"\n\n"
