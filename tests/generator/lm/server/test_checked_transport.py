"""The address that was checked is the one that is connected to, whatever its name becomes later."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from generator.lm.server.openai_server import Patience, RemoteModel
from indexing.errors import InvalidRequest, ServerFailed

NAME = "models.example"
PATIENCE = Patience(connect=2, read=2)
MODELS = b'{"object": "list", "data": [{"id": "one", "object": "model"}]}'
Resolver = Callable[..., object]


class Server(BaseHTTPRequestHandler):
    """Tells its models, and remembers the name that it was asked by."""

    hosts: list[str]

    def do_GET(self) -> None:
        self.hosts.append(self.headers["Host"])
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(MODELS)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(address: str, port: int = 0) -> Iterator[tuple[int, list[str]]]:
    """A server at an address of this machine: its port, and the names that it was asked by."""
    hosts: list[str] = []
    handler = type("Handler", (Server,), {"hosts": hosts})
    with ThreadingHTTPServer((address, port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, hosts
        server.shutdown()


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let a name resolve to these addresses, one answer after the other; the questions so far."""
    asked: list[str] = []
    usual = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: object, **more: object) -> object:
        if host != NAME:
            return usual(host, port, *rest, **more)  # type: ignore[arg-type]
        asked.append(host)
        addresses = answers[min(len(asked), len(answers)) - 1]
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def model(port: int, key: str | None = "") -> RemoteModel:
    return RemoteModel(f"openai:http://{NAME}:{port}/v1#one", patience=PATIENCE, key=key)


def test_the_checked_address_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("127.0.0.1") as (port, allowed), serving("127.0.0.2", port) as (_, other):
        asked = resolving(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
        assert model(port).names() == ("one",)
    assert allowed == [f"{NAME}:{port}"] and other == []
    assert asked == [NAME]  # once, for the check


@pytest.mark.parametrize("address", ["169.254.169.254", "224.0.0.1", "0.0.0.0"])
def test_a_name_that_has_moved_to_where_no_model_can_be_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("127.0.0.1") as (port, hosts):
        resolving(monkeypatch, ["127.0.0.1"], [address])
        one = model(port)
        assert one.names() == ("one",)
        with pytest.raises(InvalidRequest, match="no server of models"):
            one.names()
    assert len(hosts) == 1


def test_a_key_does_not_follow_a_name_to_a_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["8.8.8.8"])
    with pytest.raises(InvalidRequest, match="for all to read"):
        model(80, key="secret").names()


def test_an_address_that_does_not_answer_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving("127.0.0.1") as (port, hosts):
        resolving(monkeypatch, ["127.0.0.3", "127.0.0.1"])
        assert model(port).names() == ("one",)
        assert hosts == [f"{NAME}:{port}"]
        resolving(monkeypatch, ["127.0.0.3"])
        with pytest.raises(ServerFailed, match="cannot be reached"):
            model(port).names()
