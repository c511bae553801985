"""A request that is too large is refused before the application sees it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from rag_app.chat.web.body_limit import BodyLimit

LIMIT = 1000


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(body)(scope, receive, send)


@pytest.fixture
def client() -> TestClient:
    return TestClient(BodyLimit(echo, limit=LIMIT, apart=["/files"]))


def in_pieces(size: int) -> Iterator[bytes]:
    """A body whose size no header announces."""
    for at in range(0, size, 100):
        yield b"x" * min(100, size - at)


@pytest.mark.parametrize("size", [0, 1, LIMIT])
def test_what_fits_arrives_as_it_was(client: TestClient, size: int) -> None:
    assert client.post("/", content=b"x" * size).content == b"x" * size
    assert client.post("/", content=in_pieces(size)).content == b"x" * size
    assert client.get("/").content == b""


def test_what_is_too_large_is_413_in_the_form_of_its_reader(client: TestClient) -> None:
    for content in (b"x" * (LIMIT + 1), in_pieces(LIMIT + 1), in_pieces(100 * LIMIT)):
        reply = client.post("/gradio_api/queue/join", content=content)
        assert reply.status_code == 413 and "larger than 1,000 bytes" in reply.text
    error = client.post("/v1/chat/completions", content=b"x" * (LIMIT + 1)).json()["error"]
    assert error["type"] == "invalid_request_error" and error["code"] == "request_too_large"


def test_uploads_have_a_limit_of_their_own(client: TestClient) -> None:
    assert len(client.post("/files", content=b"x" * (9 * LIMIT)).content) == 9 * LIMIT
