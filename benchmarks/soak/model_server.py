"""A model behind an OpenAI-compatible server, small enough that a soak can kill it and go on.

`python model_server.py PORT` answers each request with words of the evidence in it.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any

MOST = 40  # words of an answer
MODEL = "soak"


class Handler(BaseHTTPRequestHandler):
    """Lists one model, and streams its answers."""

    def do_GET(self) -> None:
        """The list of models."""
        listed = [{"id": MODEL, "object": "model", "max_model_len": 8192}]
        self._begin("application/json")
        self.wfile.write(json.dumps({"object": "list", "data": listed}).encode())

    def do_POST(self) -> None:
        """An answer: the first words that are quoted in the message."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        lines = str(body["messages"][-1]["content"]).splitlines()
        quoted = (word for line in lines if line.startswith("> ") for word in line[2:].split())
        self._begin("text/event-stream")
        for word in islice(quoted, MOST):
            self._send({"choices": [{"index": 0, "delta": {"content": f"{word} "}}]})
        self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _send(self, chunk: dict[str, Any]) -> None:
        values = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
        self.wfile.write(f"data: {json.dumps({**values, **chunk})}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
