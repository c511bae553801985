"""What a server answers while its application is being built, so that it listens at once.

Gradio alone takes seconds to import. A browser is shown a page that says so and reloads itself;
every other request simply waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from rag_app.chat.queues.own_thread import in_own_thread

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

    It is made in a thread of its own, for which nobody waits when the server is stopped. `ready` is
    called once it has started, `failed` when it cannot be made.
    """

    def __init__(
        self,
        make: Callable[[], Starlette],
        *,
        ready: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._make, self._ready, self._failed = make, ready, failed
        self._app: Starlette | None = None
        self._started = asyncio.Event()
        self._router = Router(lifespan=self._live)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._router(scope, receive, send)
            return
        if not self._started.is_set() and _is_navigation(scope):
            headers = {"Retry-After": "1", "Cache-Control": "no-store"}
            await HTMLResponse(_page(Headers(scope=scope)), 503, headers)(scope, receive, send)
            return
        await self._started.wait()
        if self._app is None:
            raise RuntimeError("the application could not be made")  # the server is ending
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def _live(self, _: object) -> AsyncIterator[None]:
        """The server may start at once; the application does so behind it, and ends with it."""
        end = asyncio.Event()
        behind = asyncio.create_task(self._run(end))
        yield
        end.set()
        if self._app is None:
            behind.cancel()
        with suppress(asyncio.CancelledError):
            await behind

    async def _run(self, end: asyncio.Event) -> None:
        try:
            app = await in_own_thread(self._make, name="start")
            async with app.router.lifespan_context(app):
                self._app = app
                self._started.set()
                self._ready()
                await end.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._failed(error)
        finally:
            self._started.set()  # whoever waits is told


def _page(headers: Headers) -> str:
    """The page that is shown meanwhile, in the language of whoever waits."""
    from rag_app.chat.language.current import gettext, speak_to

    language = speak_to(headers)
    return PAGE % {"language": language.code, "starting": gettext("Starting rag-app …")}


def _is_navigation(scope: Scope) -> bool:
    """Whether a browser asks for the page, to show it."""
    is_page = scope["method"] == "GET" and scope["path"] == "/"
    return is_page and "text/html" in Headers(scope=scope).get("accept", "")
