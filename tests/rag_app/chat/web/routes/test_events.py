"""The answers of a page's events outlive the connection that they are read from."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from rag_app.chat.web.routes import events
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:gradio.*")

DONE, CLOSE = "process_completed", "close_stream"


@dataclass
class Running:
    """A server with an event that answers in steps, and one that skips an answer and gives one."""

    address: str
    blocks: gr.Blocks
    streams: events.EventStreams
    steps: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def join(self, session: str, event: int = 0) -> str:
        """Send an event; its id."""
        body = {"fn_index": event, "data": [], "session_hash": session}
        reply = httpx.post(f"{self.address}/gradio_api/queue/join", json=body, timeout=PATIENCE)
        return str(reply.raise_for_status().json()["event_id"])

    def read(
        self, session: str, after: int = 0
    ) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Each message with its number, until the stream ends."""
        number = 0
        query: dict[str, str | int] = {"session_hash": session, "after": after}
        url = f"{self.address}{events.PATH}"
        with httpx.stream("GET", url, params=query, timeout=PATIENCE) as reply:
            for line in reply.iter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "data":
                    yield number, json.loads(value)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with gr.Blocks(analytics_enabled=False) as blocks:
        button, out = gr.Button(), gr.Textbox()

        def answer() -> Iterator[str]:
            for word in ("one", "two", "three"):
                server.steps.acquire()
                yield word

        def skip() -> Iterator[Any]:
            yield gr.skip()
            yield "four"

        button.click(answer, outputs=out, concurrency_limit=4)
        button.click(skip, outputs=out)
    web = FastAPI()
    streams = events.add(web, blocks)
    gr.mount_gradio_app(web, blocks, path="/")
    served = uvicorn.Server(uvicorn.Config(web, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    wait_until(lambda: served.started)
    port = served.servers[0].sockets[0].getsockname()[1]
    server = Running(f"http://127.0.0.1:{port}", blocks, streams)
    yield server
    served.should_exit = True
    thread.join(PATIENCE)


def words(messages: list[tuple[int, dict[str, Any]]]) -> list[str]:
    """What the event answered."""
    texts = [str(each["output"]["data"]) for _, each in messages if "output" in each]
    return [word for word in ("one", "two", "three") if any(word in text for text in texts)]


def test_a_stream_is_read_on_from_where_it_broke_off(running: Running) -> None:
    running.join("tunnel")
    before = []
    stream = running.read("tunnel")
    running.steps.release()
    for number, message in stream:
        before.append((number, message))
        if message["msg"] == "process_generating":
            break
    stream.close()  # the connection breaks
    for _ in range(2):
        running.steps.release()
    after = list(running.read("tunnel", after=before[-1][0]))
    assert [message["msg"] for _, message in after][-2:] == [DONE, CLOSE]
    numbers = [number for number, _ in (*before, *after[:-1])]
    assert numbers == sorted(set(numbers))
    assert words(before) == ["one"] and words(after)[-2:] == ["two", "three"]


def test_what_was_sent_into_a_dead_connection_is_sent_again(running: Running) -> None:
    for _ in range(3):
        running.steps.release()
    running.join("asleep")
    first = list(running.read("asleep"))
    assert [message["msg"] for _, message in first][-2:] == [DONE, CLOSE]
    assert list(running.read("asleep", after=first[-3][0]))[-2:] == first[-2:]
    read = first[-2][0]
    assert [each["msg"] for _, each in running.read("asleep", after=read)] == [CLOSE]


def test_a_second_connection_takes_over(running: Running) -> None:
    running.join("twice")
    first = running.read("twice")
    assert next(first)
    second = running.read("twice")
    assert next(second)
    assert DONE not in [message["msg"] for _, message in first]  # it ends
    for _ in range(3):
        running.steps.release()
    assert [message["msg"] for _, message in second][-2:] == [DONE, CLOSE]


def test_a_page_that_is_unknown_has_nothing_to_wait_for(running: Running) -> None:
    assert [message["msg"] for _, message in running.read("nobody")] == [CLOSE]


def test_the_events_of_a_page_that_never_comes_back_end(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running.streams, "kept", 0.0)
    monkeypatch.setattr(events, "HEARTBEAT", 0.1)
    event = running.join("gone")
    stream = running.read("gone")
    assert next(stream)
    stream.close()
    wait_until(lambda: "gone" not in running.streams.pages)
    queue = running.blocks._queue
    jobs = [job for each in queue.active_jobs for job in each or () if job._id == event]
    assert not any(job.alive for job in jobs)
    for _ in range(3):
        running.steps.release()


def test_no_more_is_kept_of_a_page_with_each_answer(running: Running) -> None:
    for _ in range(5):
        running.join("long", event=1)
        assert [each["msg"] for _, each in running.read("long")][-2:] == [DONE, CLOSE]
    state = running.blocks.state_holder.session_data["long"]
    assert set(state.blocks_config.blocks) == set(running.blocks.blocks)
    assert set(state.config_values) == set(running.blocks.blocks)


def test_only_the_latest_pages_are_kept(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.streams, "kept", 0.1)
    holder, queue = running.blocks.state_holder, running.blocks._queue
    assert holder.capacity == events.PAGES
    for number in range(events.PAGES + 3):
        assert holder[f"page {number}"]
    assert len(holder.session_data) <= events.PAGES + 1  # and the one that is being opened
    for number in range(3):
        running.join(f"short {number}", event=1)
        assert [*running.read(f"short {number}")]
    wait_until(lambda: not any(name.startswith("short") for name in running.streams.pages))
    for kept in (queue.pending_event_ids_session, queue.pending_messages_per_session):
        assert not [name for name in kept if name.startswith("short")]
