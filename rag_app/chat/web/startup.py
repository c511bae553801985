"""What a server answers while its application is being built, so that it listens at once.

Gradio alone takes seconds to import. A browser is shown a page that says so and reloads itself;
every other request simply waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE = """<!doctype html>
<html lang="%(language)s"><head><meta charset="utf-8"><title>rag-app</title>
<meta name="viewport" content="width=device-width">
<noscript><meta http-equiv="refresh" content="2"></noscript>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px system-ui, sans-serif; display: grid; place-content: center; height: 90vh; }
</style></head>
<body><p role="status">%(starting)s</p>
<script>
  const started = () => fetch(location.href, { headers: { Accept: "*/*" }, cache: "no-store" });
  const again = () => started().then(() => location.reload(), () => setTimeout(again, 1000));
  again();
</script></body></html>
"""


class Startup:
    """ASGI application that passes everything on to another, as soon as that is made.

    Args:
        make: Makes it, in a thread of its own.
        ready: Called once it is made and has started.
        failed: Called with the error when it cannot be made.
    """

    def __init__(
        self,
        make: Callable[[], ASGIApp],
        *,
        ready: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._make, self._ready, self._failed = make, ready, failed
        self._app: ASGIApp | None = None
        self._started = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        if not self._started.is_set() and _is_navigation(scope):
            headers = {"Retry-After": "1", "Cache-Control": "no-store"}
            await HTMLResponse(_page(Headers(scope=scope)), 503, headers)(scope, receive, send)
            return
        await self._started.wait()
        if self._app is None:
            raise RuntimeError("the application could not be made")  # the server is ending
        await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The server may start at once; the application does so behind it, and ends with it."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        stop = asyncio.ensure_future(receive())
        made = self._begin()
        await asyncio.wait((made, stop), return_when=asyncio.FIRST_COMPLETED)
        if not made.done() or made.exception() is not None:
            if made.done() and (error := made.exception()) is not None:
                self._failed(error)
            self._started.set()  # whoever waits is told
            await stop
            await send({"type": "lifespan.shutdown.complete"})
            return
        app = made.result()
        begun = False

        async def take() -> Message:
            nonlocal begun
            if begun:
                return await stop
            begun = True
            return {"type": "lifespan.startup"}

        async def tell(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._app = app
                self._started.set()
                self._ready()
            elif message["type"] == "lifespan.startup.failed":
                self._failed(RuntimeError(message.get("message") or "the page did not start"))
                self._started.set()
                await stop
                await send({"type": "lifespan.shutdown.complete"})
            else:
                await send(message)

        await app(scope, take, tell)

    def _begin(self) -> asyncio.Future[ASGIApp]:
        """Make the application in a thread, for which nobody waits when the server is stopped."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ASGIApp] = loop.create_future()

        def finish(app: ASGIApp | None, error: BaseException | None) -> None:
            if future.cancelled():
                return
            if app is not None:
                future.set_result(app)
            elif error is not None:
                future.set_exception(error)

        def work() -> None:
            app, failure = None, None
            try:
                app = self._make()
            except BaseException as error:
                failure = error
            with suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(finish, app, failure)

        threading.Thread(target=work, name="start", daemon=True).start()
        return future


def _page(headers: Headers) -> str:
    """The page that is shown meanwhile, in the language of whoever waits."""
    from rag_app.chat.language.current import gettext, speak_to

    language = speak_to(headers)
    return PAGE % {"language": language.code, "starting": gettext("Starting rag-app …")}


def _is_navigation(scope: Scope) -> bool:
    """Whether a browser asks for the page, to show it."""
    is_page = scope["method"] == "GET" and scope["path"] == "/"
    return is_page and "text/html" in Headers(scope=scope).get("accept", "")
