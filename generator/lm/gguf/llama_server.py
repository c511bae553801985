"""llama.cpp in this process (`xllamacpp`): its own server, which only this process can reach.

It listens on a socket in a folder of this user's, or where a system has none on loopback, and takes
nothing without a secret that no one else knows. So prompts, tokens and stops go the way that
llama.cpp itself is used and tested by, and a text that nobody waits for any more is given up.
"""

from __future__ import annotations

import json
import secrets
import shutil
import socket
import tempfile
import threading
import weakref
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from generator.lm.interruption import Connections, interruptible
from indexing.errors import MissingDependency, ServerFailed, UnsupportedModel
from indexing.models.graphs.cores import available_cores

INSTALL = 'pip install "rag-app[llama]"'
CHUNK = 64
"""Tokens of a prompt that are read at once: between them a text is given up that nobody wants."""
_KEPT = 512  # MB of keys and values of earlier prompts

Values = Mapping[str, object]


def is_installed() -> bool:
    """Whether llama.cpp is here."""
    return find_spec("xllamacpp") is not None


class LlamaServer:
    """A GGUF file in llama.cpp, quantized as it is; it is mapped into memory, not copied.

    A prompt and its answer have at most so many tokens; the model may allow fewer.

    Raises:
        MissingDependency: llama.cpp is not installed.
        UnsupportedModel: It cannot read the file.
    """

    def __init__(self, file: Path, *, window: int) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingDependency("xllamacpp", f"running {file.name}", INSTALL) from error
        self._key = secrets.token_hex(16)
        folder = tempfile.mkdtemp(prefix="rag-app-")  # of this user alone
        self._path = f"{folder}/model.sock" if hasattr(socket, "AF_UNIX") else None
        settings: Any = xllamacpp.CommonParams()
        settings.model.path = str(file)
        settings.hostnames = [self._path or "127.0.0.1"]
        settings.api_keys = [self._key]
        settings.ui = settings.endpoint_slots = False
        settings.n_ctx, settings.n_parallel, settings.verbosity = window, 1, 0
        settings.n_batch = settings.n_ubatch = CHUNK
        settings.cache_ram_mib = _KEPT
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = available_cores()
        try:
            server = xllamacpp.Server(settings)
        except RuntimeError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise UnsupportedModel(
                f"{file} cannot be read by llama.cpp; fetch it again, or choose another model"
            ) from error
        self._address = urlsplit(server.listening_address)
        alive = [server]
        self.close = weakref.finalize(self, _end, alive, folder)
        # Ended before its loop runs, a server never ends: an answer of no token waits for that.
        self.ask("/completion", {"prompt": " ", "n_predict": 0})

    def ask(self, path: str, values: Values) -> Any:  # noqa: ANN401 - what a route answers
        """What a route answers to a question.

        Raises:
            ServerFailed: It refuses.
        """
        with self._request("POST", path, values) as response:
            return json.loads(response.read())

    def properties(self) -> Any:  # noqa: ANN401
        """What llama.cpp says of the model."""
        with self._request("GET", "/props", None) as response:
            return json.loads(response.read())

    def stream(
        self, path: str, values: Values, *, stop: threading.Event | None = None
    ) -> Generator[Any]:
        """The events of a route, until they end or `stop` is set by another thread.

        Raises:
            ServerFailed: It refuses, or breaks off.
        """
        connections = Connections()
        events = self._events(path, {**values, "stream": True}, connections)
        yield from interruptible(events, stop=stop, cancel=connections.break_off)

    def _events(self, path: str, values: Values, connections: Connections) -> Generator[Any]:
        with self._request("POST", path, values, connections) as response:
            for line in response:
                if line.startswith(b"data: {"):
                    yield _checked(json.loads(line[6:]))

    @contextmanager
    def _request(
        self, method: str, path: str, values: Values | None, connections: Connections | None = None
    ) -> Iterator[Any]:
        """The response to a request, whose connection is added to `connections`.

        Raises:
            ServerFailed: It is refused.
        """
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        body = None if values is None else json.dumps(values)
        with closing(self._connection()) as http:
            http.connect()
            if connections is not None:
                connections.add(http.sock)
            http.request(method, path, body, headers)
            response = http.getresponse()
            if response.status != 200:
                _checked(json.loads(response.read()))
            yield response

    def _connection(self) -> HTTPConnection:
        if self._path is None:
            return HTTPConnection(self._address.hostname or "", self._address.port)
        return _SocketConnection(self._path)


class _SocketConnection(HTTPConnection):
    """HTTP through a socket of the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        """Open the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def _checked(event: Any) -> Any:  # noqa: ANN401
    """An event that is no error.

    Raises:
        ServerFailed: It is one.
    """
    error = event.get("error") if isinstance(event, dict) else None
    if error:
        raise ServerFailed(f"llama.cpp: {error.get('message', error)}; ask something shorter")
    return event


def _end(alive: list[Any], folder: str) -> None:
    """Stop the server, and leave nothing behind."""
    alive.clear()
    shutil.rmtree(folder, ignore_errors=True)
