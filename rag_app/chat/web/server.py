"""One web application: the page, the upload route and, if enabled, MCP tools and an API."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest, MissingDependency
from rag_app.chat.request_limits import MAX_BODY

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from rag_app.chat.application import Application
    from rag_app.chat.web.logins import Logins

LONGEST_END = 3  # seconds that a server waits for its threads when it is stopped
WORKERS = ("start", "warm", "answer", "ingest", "suggest", "tell")  # names of threads that compute
PROXIES = ("127.0.0.1", "::1")  # that are believed unless others are named
STATIC = Path(__file__).parents[1] / "page" / "static"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How an application is served."""

    host: str = "127.0.0.1"  # address to listen on
    port: int = 7860  # 0 takes a free one
    api: bool = False  # whether the OpenAI-compatible API is served at /v1
    mcp: bool = False  # whether MCP tools are served at /mcp
    logins: Logins | None = None  # who may log in; None where nobody has to
    # the header in which a proxy says who somebody is; None for no such proxy
    user_header: str | None = None
    # addresses of proxies, which are believed where a request is from
    proxies: tuple[str, ...] = PROXIES

    def __post_init__(self) -> None:
        if not self.has_people and not self.private:
            raise InvalidRequest(
                f"at {self.host} everybody on the network could read and remove documents; set "
                "RAG_APP_AUTH to user:password, or name a file that holds it with --auth-file"
            )

    @property
    def has_people(self) -> bool:
        """Whether it is known who sends a request."""
        return self.logins is not None or self.user_header is not None

    @property
    def private(self) -> bool:
        """Whether only this machine can reach it."""
        from rag_app.chat.web.auth import LOOPBACK

        return self.host in LOOPBACK


def require_gradio() -> None:
    """Check that the optional libraries of the page are installed.

    Raises:
        MissingDependency: One is not.
    """
    from importlib.util import find_spec

    for library in ("gradio", "mcp", "babel"):
        if find_spec(library) is None:
            raise MissingDependency(library, "The chat page", 'pip install "rag-app[chat]"')


def protect(web: ASGIApp, options: ServerOptions, *, sessions: Path | None = None) -> ASGIApp:
    """A web application behind its access control.

    `sessions` is the file of those who have logged in; None for as long as the server runs.
    """
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from rag_app.chat.web.auth import LOOPBACK, AccessControl, with_peer
    from rag_app.chat.web.identity import Identification, ProxyUser
    from rag_app.chat.web.sessions import Sessions

    logins, header = options.logins, options.user_header
    identification = None
    if options.has_people:
        identification = Identification(
            logins,
            sessions=Sessions(logins, file=sessions) if logins else None,
            proxy=ProxyUser(header, frozenset(options.proxies)) if header else None,
        )
    hosts = {*LOOPBACK, options.host} if options.private and header is None else None
    control = AccessControl(web, hosts=hosts, identification=identification)
    forwarded: Any = ProxyHeadersMiddleware(control, trusted_hosts=[*options.proxies])  # type: ignore[arg-type]
    return with_peer(forwarded)


def build_application(app: Application, options: ServerOptions) -> FastAPI:
    """The whole web application, without access control; Gradio is imported here."""
    _configure_gradio(app.corpus.folder)
    import gradio as gr
    from fastapi import FastAPI
    from fastapi.staticfiles import StaticFiles

    from rag_app.chat.page import components, page
    from rag_app.chat.web.body_limit import BodyLimit
    from rag_app.chat.web.page_html import PageHtml
    from rag_app.chat.web.routes import changes, documents, events, languages, models, uploads

    web = FastAPI(title="rag-app", docs_url=None, redoc_url=None, openapi_url=None)
    web.mount("/static", StaticFiles(directory=STATIC))
    for route in (uploads, changes, documents, models):
        route.add(web, app)
    languages.add(web)
    if options.api:
        from rag_app.chat.web import openai_api

        openai_api.add(web, app)
    if options.mcp:
        from rag_app.chat.web.mcp import tools

        tools.add(web, app)
    blocks, head = page.build(app)
    events.add(web, blocks)
    gr.mount_gradio_app(
        web,
        blocks,
        path="/",
        footer_links=[],
        run_history=False,
        show_error=False,
        max_file_size=1,
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
        theme=page.theme(),
        head=page.STYLE,
        i18n=components.I18N,
        auth_dependency=_gradio_user if options.has_people else None,
        app_kwargs={"openapi_url": None},
    )
    web.add_middleware(PageHtml, head=head)
    web.add_middleware(BodyLimit, limit=MAX_BODY, apart=[uploads.PATH])
    return web


def _gradio_user(request: Request) -> str | None:
    """What handlers of the page have as `Request.username`."""
    from rag_app.chat.web.auth import user_of

    return user_of(request.scope)


def listen(options: ServerOptions) -> socket.socket:
    """A socket at the address.

    Raises:
        InvalidRequest: The address is in use, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise InvalidRequest(
            f"cannot listen at {options.host}, port {options.port} ({reason}); "
            "name another with --port, or --port 0 for a free one"
        ) from error
    return listener


@contextmanager
def _until_interrupted(server: uvicorn.Server) -> Iterator[threading.Event]:
    """Have Ctrl-C end a server that has not begun yet, too.

    Nothing is raised: Python drops what is raised while it removes a weak reference, as it often
    does here, and the Ctrl-C would be lost.

    Yields:
        What is set by Ctrl-C. Once the server runs, it has its own way of taking notice.
    """
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        interrupted.set()
        server.should_exit = True

    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield interrupted
        return
    former = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, former)


def serve(
    app: Application, options: ServerOptions, *, ready: Callable[[str], None] | None = None
) -> None:
    """Serve until interrupted.

    It listens at once, and calls `ready` with its address. The page is built behind that, and then
    the models are loaded.

    Raises:
        InvalidRequest: The address is in use, or not this machine's.
    """
    import uvicorn

    from rag_app.chat.web.sessions import FILE
    from rag_app.chat.web.startup import Startup

    failures: list[BaseException] = []

    def fail(error: BaseException) -> None:
        failures.append(error)
        server.should_exit = True

    startup = Startup(
        lambda: build_application(app, options), ready=app.readiness.begin, failed=fail
    )
    with listen(options) as listener:
        config = uvicorn.Config(
            protect(startup, options, sessions=app.corpus.folder / FILE),
            proxy_headers=False,  # `protect` reads them
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
            ws="none",
        )
        server = uvicorn.Server(config)
        logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
        listener.listen()
        app.ingest_queue.resume()
        host = f"[{options.host}]" if ":" in options.host else options.host
        with _until_interrupted(server) as interrupted:
            try:
                if ready is not None:
                    ready(f"http://{host}:{listener.getsockname()[1]}")
                # Ctrl-C before its loop has begun leaves a coroutine behind that is of no interest.
                ignored = "coroutine 'Server.serve' was never awaited"
                warnings.filterwarnings("ignore", ignored)
                server.run(sockets=[listener])
                if interrupted.is_set():
                    raise KeyboardInterrupt
            finally:
                app.ingest_queue.close()
                app.suggestions.close()
                app.tellings.close()
                app.viewer.close()
                _wait_for_threads()
    if failures:
        raise failures[0]


def _wait_for_threads() -> None:
    """Let threads end that use models and the corpus, for a moment.

    One that is still within a library when Python ends makes that library abort the process, so
    the process ends without Python's own end then.
    """
    deadline = time.monotonic() + LONGEST_END
    working = [each for each in threading.enumerate() if each.daemon and each.name in WORKERS]
    for thread in working:
        thread.join(max(deadline - time.monotonic(), 0))
    if any(thread.is_alive() for thread in working):
        atexit.register(_end_at_once)


def _end_at_once() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(128 + signal.SIGINT)  # Ctrl-C is what ends a server


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether a log record is more than a page that was still open at shutdown."""
    kind = record.exc_info[0] if record.exc_info else None
    cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
    return not cancelled and not str(record.msg).startswith("Cancel %s running task")


def _configure_gradio(folder: Path) -> None:
    """Configure Gradio before its import: no telemetry, temporary files in the corpus folder."""
    if "gradio" not in sys.modules:
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        os.environ["GRADIO_TEMP_DIR"] = str(folder / ".gradio")
