"""A server listens before its page is made: what it answers meanwhile, and how that ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route

from rag_app.chat.web.server import ServerOptions, listen, protect
from rag_app.chat.web.startup import Startup
from rag_app.corpus.corpus import Corpus
from tests.waiting import BROWSER_PATIENCE, PATIENCE

Messages = asyncio.Queue[dict[str, Any]]


def application() -> Starlette:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"the page {request.url.path}")

    return Starlette(routes=[Route("/{rest:path}", page, methods=["GET", "POST"])])


async def asked(startup: Startup, path: str, accept: str, method: str = "GET") -> tuple[int, str]:
    """The status and body of a response."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        **{"type": "http", "method": method, "path": path, "query_string": b"", "root_path": ""},
        "headers": [(b"accept", accept.encode())],
    }
    await startup(scope, receive, send)
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:]).decode()


def begun(startup: Startup) -> tuple[asyncio.Task[None], Messages, Messages]:
    """The lifespan of an application, as a server begins it."""
    to: Messages = asyncio.Queue()
    back: Messages = asyncio.Queue()
    to.put_nowait({"type": "lifespan.startup"})
    live = startup({"type": "lifespan", "state": {}}, to.get, back.put)  # type: ignore[arg-type]
    return asyncio.ensure_future(live), to, back


def test_a_browser_is_told_and_every_other_request_waits() -> None:
    go, events = threading.Event(), list[str]()

    def make() -> Starlette:
        go.wait()
        return application()

    async def run() -> None:
        startup = Startup(
            make, ready=lambda: events.append("ready"), failed=lambda e: events.append(str(e))
        )
        live, to, back = begun(startup)
        assert (await back.get())["type"] == "lifespan.startup.complete"
        status, text = await asked(startup, "/", "text/html,*/*")
        assert status == 503 and "Starting rag-app" in text
        others = [
            asyncio.ensure_future(asked(startup, path, "*/*", method))
            for path, method in (("/", "GET"), ("/v1/chat/completions", "POST"))
        ]
        await asyncio.sleep(0)
        assert not any(each.done() for each in others) and not events
        go.set()
        assert await asyncio.gather(*others) == [
            (200, "the page /"), (200, "the page /v1/chat/completions"),
        ]  # fmt: skip
        assert events == ["ready"]
        assert await asked(startup, "/", "text/html") == (200, "the page /")
        to.put_nowait({"type": "lifespan.shutdown"})
        assert (await back.get())["type"] == "lifespan.shutdown.complete"
        await live

    asyncio.run(run())


def test_a_server_is_stopped_without_waiting_for_its_page() -> None:
    go = threading.Event()

    async def run() -> None:
        startup = Startup(
            lambda: go.wait() and application(),  # type: ignore[arg-type, return-value]
            ready=lambda: None,
            failed=lambda _: None,
        )
        live, to, back = begun(startup)
        to.put_nowait({"type": "lifespan.shutdown"})
        assert [(await back.get())["type"].split(".")[1] for _ in range(2)] == [
            "startup", "shutdown",
        ]  # fmt: skip
        await live

    asyncio.run(run())
    go.set()


def test_a_page_that_cannot_be_made_ends_the_server_with_its_error() -> None:
    failures: list[BaseException] = []

    def make() -> Starlette:
        raise ValueError("no page")

    async def run() -> None:
        startup = Startup(make, ready=lambda: None, failed=failures.append)
        live, to, back = begun(startup)
        await back.get()
        with pytest.raises(RuntimeError):
            await asked(startup, "/v1/models", "*/*")
        to.put_nowait({"type": "lifespan.shutdown"})
        assert (await back.get())["type"] == "lifespan.shutdown.complete"
        await live

    asyncio.run(run())
    assert [str(each) for each in failures] == ["no page"]


def test_a_browser_comes_to_the_page_by_itself(browser: Browser) -> None:
    made = threading.Event()

    def make() -> Starlette:
        made.wait()

        async def page(request: Request) -> HTMLResponse:
            return HTMLResponse("<p>The page</p>")

        return Starlette(routes=[Route("/", page)])

    options = ServerOptions(port=0)
    startup = Startup(make, ready=lambda: None, failed=lambda _: None)
    with listen(options) as listener:
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(protect(startup, options), log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        tab = browser.new_page()
        tab.set_default_timeout(BROWSER_PATIENCE)
        tab.goto(f"http://127.0.0.1:{listener.getsockname()[1]}")
        expect(tab.get_by_role("status")).to_have_text("Starting rag-app …")
        made.set()
        expect(tab.get_by_text("The page")).to_be_visible()
        tab.close()
        server.should_exit = True
        thread.join(PATIENCE)


LISTENING = """
import os, sys
from rag_app.cli import serve
def ready(address, options):
    print(*sorted({name.partition(".")[0] for name in sys.modules}), flush=True)
    os._exit(0)
serve._ready = ready
from rag_app.cli.main import main
main(["serve", "--port", "0", "--api", "--mcp", "--corpus", sys.argv[1]])
"""


def test_a_server_listens_before_it_imports_what_takes_long(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text("The owl survey begins in March.", name="owl")
    done = subprocess.run(
        [sys.executable, "-c", LISTENING, str(tmp_path / "corpus")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = set(done.stdout.split())
    assert "uvicorn" in imported
    assert not imported & {"gradio", "pandas", "mcp", "torch", "transformers", "faiss"}
