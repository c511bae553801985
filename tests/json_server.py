"""A server on this machine that answers JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def json_server(
    reply: Callable[[dict[str, Any]], tuple[int, Any]],
) -> Iterator[tuple[str, list[Any]]]:
    """Its address with /v1, and what it is asked: path, key and body."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers.get("Authorization"), body))
            status, values = reply(body)
            data = values if isinstance(values, bytes) else json.dumps(values).encode()
            self.send_response(status)
            self.send_header("Location", "http://localhost:1/")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/v1", asked
        finally:
            running.shutdown()
