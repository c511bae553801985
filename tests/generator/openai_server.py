"""A small OpenAI-compatible server for tests, in a process of its own.

What it does depends on the model that is asked for; the model "last" tells the request before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

ANSWER = "The ferry sails at nine o'clock. Its captain is Joan Reyes."
SEEN = (
    "The ferry sails at nine o'clock. Nitrate is highest in the third reach [Picture 1]. "
    "It falls to two in the last. [Picture 1] Winters are mild [Picture 9]."
)
KEY = "a-very-secret-key"


@contextmanager
def running() -> Iterator[str]:
    """Its base URL."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        yield f"http://127.0.0.1:{run.stdout.readline().strip()}/v1"
        run.terminate()


class Handler(BaseHTTPRequestHandler):
    seen: ClassVar[list[dict[str, Any]]] = []
    tries: ClassVar[dict[str, int]] = {}

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body["model"]
        self.tries[name] = self.tries.get(name, 0) + 1
        if name == "last":
            self.stream([json.dumps({"seen": self.seen[-1], "tries": self.tries})])
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen.append(
            {
                "body": body,
                "key": headers.get("Authorization"),
                "headers": headers,
                "path": self.path,
            }
        )
        getattr(self, f"as_{name}", self.as_unknown)()

    def do_GET(self) -> None:
        """What models there are, as vLLM and llama.cpp list them."""
        if self.path.endswith("/models"):
            listed = [
                {"id": "good", "object": "model", "max_model_len": 40_960},
                {"id": "whole", "object": "model", "meta": {"n_ctx": 4096}},
                {"id": "slow", "object": "model", "max_model_len": "long"},
            ]
            self.send(200, {"object": "list", "data": listed})
        else:
            self.send(404, {"error": {"message": "no such page"}})

    def as_good(self) -> None:
        self.stream(ANSWER.split(" "), between=" ")

    def as_seeing(self) -> None:
        self.stream(SEEN.split(" "), between=" ")

    def as_blind(self) -> None:
        message = "image input is not supported - hint: you may need to provide the mmproj"
        self.send(500, {"error": {"message": message}})

    def as_whole(self) -> None:
        self.send(200, {"choices": [{"message": {"content": ANSWER}}]})

    def as_flaky(self) -> None:
        if self.tries["flaky"] < 3:
            self.send(503, {"error": {"message": "loading the model"}}, {"Retry-After": "0"})
        else:
            self.as_good()

    def as_down(self) -> None:
        self.send(500, {"error": "out of\x1b[31m memory"})

    def as_locked(self) -> None:
        if self.headers.get("Authorization") == f"Bearer {KEY}":
            self.as_good()
        else:
            self.send(401, {"error": {"message": "no key"}})

    def as_slow(self) -> None:
        time.sleep(3)
        self.as_good()

    def as_silent(self) -> None:
        """Says nothing until nobody waits any more."""
        self.connection.settimeout(120)
        self.seen.append({"given up": self.rfile.read(1) == b""})

    def as_pausing(self) -> None:
        self.stream(["The ferry"], end=False)
        self.as_silent()

    def as_overflow(self) -> None:
        message = "request (9000 tokens) exceeds the available context size (8192 tokens)"
        self.send(400, {"error": {"message": message, "type": "exceed_context_size_error"}})

    def as_cut(self) -> None:
        self.stream(["The ferry", " sails"], end=False)
        self.wfile.write(b'data: {"choices": [{"del\n\n')

    def as_dying(self) -> None:
        self.stream(["The ferry", " sails"], end=False)

    def as_failing(self) -> None:
        self.stream(["The ferry"], end=False)
        self.wfile.write(b'data: {"error": {"message": "the engine died"}}\n\n')

    def as_page(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>Welcome to nginx</html>")

    def as_endless(self) -> None:
        self.stream(["word "] * 5000)

    def as_moved(self) -> None:
        self.send_response(307)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def as_unknown(self) -> None:
        self.send(404, {"error": {"message": "model not found"}})

    def stream(self, pieces: list[str], between: str = "", end: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for i, piece in enumerate(pieces):
            delta = {"content": (between if i else "") + piece}
            event = json.dumps({"choices": [{"delta": delta}]})
            self.wfile.write(f": keep alive\n\ndata: {event}\n\n".encode())
        if end:
            last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
            usage: dict[str, Any] = {"choices": []}
            events = map(json.dumps, (last, usage))
            self.wfile.write("".join(f"data: {each}\n\n" for each in events).encode())
            self.wfile.write(b"data: [DONE]\n\n")

    def send(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
