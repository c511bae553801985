"""A language model behind an OpenAI-compatible server (vLLM, llama.cpp, Ollama and others).

Named `openai:BASE_URL#MODEL`, as in `openai:http://localhost:11434/v1#qwen3`. Only this file speaks
to a network, through OpenAI's own library, and only to the server that was named: no redirect is
followed. The key is the one that was given with the name, else it comes from the environment:
$RAG_APP_API_KEY for any server, $OPENAI_API_KEY for OpenAI's own and no other. Nothing else of the
environment that the library would send (headers, organization, project) leaves this machine.

A server gives text and nothing else, so whatever needs the model's logits or attention is refused
(`model_name.needs_internals`), and tokens are estimated (`prompt.server_chat`).
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from generator.lm.interruption import Connections, interruptible
from generator.lm.sampling import Sampling
from generator.prompt.builder import SYSTEM
from generator.prompt.chat_template import ServerChat, break_control_tokens
from generator.prompt.pictures import Content
from indexing.errors import InvalidRequest, MissingDependency, RagAppError, ServerFailed
from indexing.message import N_
from indexing.models.server.server_name import parse_server_name

if TYPE_CHECKING:
    from httpx2 import HTTPTransport
    from openai import APIError, OpenAI

MOST_NAMES = 200  # of a server's list of models
_RETRIES = 2
_MOST_CHARACTERS = 40  # a token, before a server's answer is cut
_CONTEXT = re.compile(
    r"context (size|length|window)|maximum context|too many tokens", re.IGNORECASE
)
_PICTURES = re.compile(r"\b(images?|image_url|mmproj|multimodal|vision)\b", re.IGNORECASE)
_HEADERS = {
    *("host", "connection", "accept", "accept-encoding", "user-agent"),
    *("content-type", "content-length"),
}  # that a request has; beside them, the key


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server may take."""

    connect: float = 10.0  # seconds until a connection is made
    read: float = 120.0  # seconds between two pieces of an answer, the first one included


class RemoteModel:
    """A model behind a server: messages in, text out, piece by piece.

    Args:
        name: `openai:BASE_URL#MODEL`.
        patience: How long the server may take.
        key: Sent to the server and nobody else; "" for none, None for the environment's. One that
            is given goes with an address that somebody typed on a page, so each connection is to an
            address that was checked (`server_address`).

    Raises:
        InvalidRequest: The name is not of that form, or holds a password.
        MissingDependency: The `openai` package is not installed.
    """

    def __init__(
        self, name: str, *, patience: Patience | None = None, key: str | None = None
    ) -> None:
        self.name, self._given_key = name, key
        self.url, self.model = parse_server_name(name)
        self._patience = patience or Patience()
        self._stated: list[int | None] = []  # of the window, once the server has been asked
        self.chat = ServerChat()
        self._client().close()  # says now what is wrong with the address, or missing

    @property
    def window(self) -> int | None:
        """Most tokens of prompt and answer, as vLLM, SGLang and llama.cpp state it, else None.

        Asked once. A server that cannot be reached says why when it is asked the question.
        """
        self.learn_window()
        return self._stated[0]

    def learn_window(self, stop: threading.Event | None = None) -> bool:
        """Ask the server for `window`, unless it has answered; False where `stop` ended that."""
        connections = Connections()
        if not self._stated:
            asked = interruptible(
                self._ask_window(connections), stop=stop, cancel=connections.break_off
            )
            with closing(asked):
                self._stated.extend(asked)
        return bool(self._stated)

    def _ask_window(self, connections: Connections) -> Generator[int | None]:
        from openai import APIError

        window = None
        with suppress(APIError, ValueError, TypeError, AttributeError):
            with self._client(connections) as client:
                quick = client.with_options(timeout=self._patience.connect, max_retries=0)
                models = quick.models.list().data
            window = next((_stated_window(one) for one in models if one.id == self.model), None)
        yield window

    def names(self) -> tuple[str, ...]:
        """The server's names of its models, in its order, at most `MOST_NAMES`.

        Raises:
            ServerFailed: The server cannot be reached, refuses, or speaks another protocol.
        """
        with self._explained(), self._client() as client:
            listed = client.with_options(max_retries=0).models.list().data
            return tuple(_printable(str(one.id)) for one in listed[:MOST_NAMES])

    def count(self, text: str) -> int:
        """An estimate of how many tokens a text takes."""
        return len(self.chat.content(text))

    def stream(
        self,
        message: Content,
        *,
        turns: Sequence[tuple[Content, str]] = (),
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
    ) -> Generator[str]:
        """The answer to a message, in pieces that are never taken back.

        A request that fails before the answer begins is tried again, a few times. `stop` and
        closing the iterator end it at once, whatever is waited for, and break the connection off.

        Raises:
            InvalidRequest: The message is longer than the model's context.
            ServerFailed: The server cannot be reached, refuses, or speaks another protocol.
        """
        budget = _MOST_CHARACTERS * max_new_tokens
        connections = Connections()
        pieces = interruptible(
            self._request(
                _messages(message, turns), max_new_tokens, sampling or Sampling(), connections
            ),
            stop=stop,
            cancel=connections.break_off,
        )
        pictures = not all(isinstance(one, str) for one in (message, *(user for user, _ in turns)))
        with self._explained(pictures=pictures), closing(pieces):
            for piece in pieces:
                yield piece[:budget]
                budget -= len(piece)
                if budget <= 0:
                    return

    def _client(self, connections: Connections | None = None) -> OpenAI:
        try:
            import openai
        except ImportError as error:
            raise MissingDependency(
                "openai", "A model behind a server", 'pip install "rag-app[openai]"'
            ) from error
        key = _key(self.url) if self._given_key is None else self._given_key

        def note(event: str, about: dict[str, Any]) -> None:
            stream = about.get("return_value") if event.startswith("connection.connect_") else None
            if connections is not None and stream is not None:
                connections.add(stream.get_extra_info("socket"))

        def send_only_ours(request: Any) -> None:  # noqa: ANN401 - of the library's HTTP client
            if connections is not None and connections.broken_off:
                raise ServerFailed("nobody waits for the answer any more")  # nor tries again
            request.extensions["trace"] = note
            for name in set(request.headers) - _HEADERS:
                del request.headers[name]
            if key:
                request.headers["authorization"] = f"Bearer {key}"

        try:
            http = openai.DefaultHttpxClient(
                follow_redirects=False,
                event_hooks={"request": [send_only_ours]},
                transport=self._transport(bool(key)),
            )
            return openai.OpenAI(
                base_url=self.url,
                api_key=key or "none",
                timeout=openai.Timeout(self._patience.read, connect=self._patience.connect),
                max_retries=_RETRIES,
                http_client=http,
            )
        except Exception as error:  # whatever the HTTP client raises on addresses and proxies
            raise InvalidRequest(
                f"{self.url} cannot be used ({error}); correct the address after openai:"
            ) from error

    def _transport(self, has_key: bool) -> HTTPTransport | None:
        """What connects to a server that somebody typed on a page; None for the library's own.

        Where a proxy is between, it is the proxy that resolves the name and connects.
        """
        parts = urlsplit(self.url)
        if self._given_key is None or (
            parts.scheme in getproxies() and not proxy_bypass(parts.hostname or "")
        ):
            return None
        from generator.lm.server.checked_transport import CheckedTransport

        return CheckedTransport(self.url, has_key=has_key)

    def _request(
        self,
        messages: list[dict[str, Any]],
        limit: int,
        sampling: Sampling,
        connections: Connections,
    ) -> Generator[str]:
        """One chat completion as pieces of text; its connections are added to `connections`."""
        with (
            self._client(connections) as client,
            client.chat.completions.create(
                model=self.model,
                messages=cast("Any", messages),
                max_tokens=limit,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                seed=sampling.seed,
                stream=True,
            ) as chunks,
        ):
            if "json" in chunks.response.headers.get("content-type", ""):  # nothing is streamed
                answer = json.loads(chunks.response.read())
                yield str(answer["choices"][0]["message"]["content"] or "")
                return
            empty, complete = True, _is_delimited(chunks.response.headers)
            for chunk in chunks:
                empty = False
                for choice in chunk.choices[:1]:
                    complete = complete or bool(choice.finish_reason)
                    if piece := choice.delta.content:
                        yield str(piece)
        if empty:
            reason = N_(
                "%(server)s sent no answer; see whether it is an OpenAI-compatible server, and "
                "whether the address ends as its documentation says (often /v1)",
                server=self.url,
            )
            raise ServerFailed(reason)
        if not complete:
            raise ServerFailed(self._broken_off("its answer has no end"))

    @contextmanager
    def _explained(self, *, pictures: bool = False) -> Iterator[None]:
        """The library's errors, maybe about pictures, as ours: what failed, then what to do."""
        from openai import APIError, BadRequestError

        try:
            yield
        except RagAppError:
            raise
        except APIError as error:
            if isinstance(error.__cause__, RagAppError):  # of the check of an address
                raise error.__cause__ from None
            if isinstance(error, BadRequestError) and _CONTEXT.search(reason := _reason(error)):
                raise InvalidRequest(
                    N_(
                        "%(model)s at %(server)s reads no more than its context (%(error)s); give "
                        "it less with --prompt-tokens, or start the server with a longer one",
                        **{"model": self.model, "server": self.url, "error": reason},
                    )
                ) from error
            raise ServerFailed(self._explain(error, pictures=pictures)) from error
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ServerFailed(
                N_(
                    "%(server)s answered what no OpenAI-compatible server would (%(error)s); "
                    "correct the address after openai:",
                    **{"server": self.url, "error": _printable(str(error))},
                )
            ) from error

    def _explain(self, error: APIError, *, pictures: bool) -> str:  # noqa: PLR0911 - a table of errors
        import openai
        from httpx2 import ReadError, RemoteProtocolError, WriteError

        reason, breaks = _reason(error), (ReadError, RemoteProtocolError, WriteError)
        told = {"server": self.url, "error": reason}
        match error:
            case openai.APITimeoutError():
                return N_(
                    "%(server)s did not answer in time (%(number)s s); see whether the server is "
                    "busy or still loading, then ask again",
                    server=self.url,
                    number=f"{self._patience.read:g}",
                )
            case openai.APIConnectionError() if isinstance(error.__cause__, breaks):
                return self._broken_off(_printable(str(error.__cause__)))
            case openai.APIConnectionError():
                return N_(
                    "%(server)s cannot be reached (%(error)s); start the server, or correct the "
                    "address after openai:",
                    server=self.url,
                    error=_printable(str(error.__cause__ or error)),
                )
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return N_(
                    "%(server)s refuses the key (%(number)s: %(error)s); set RAG_APP_API_KEY, or "
                    "give another key",
                    **told | {"number": error.status_code},
                )
            case openai.NotFoundError():
                return N_(
                    "%(server)s knows no %(model)s (%(error)s); look at %(address)s/models",
                    **told | {"model": repr(self.model), "address": self.url},
                )
            case openai.APIStatusError() if pictures and _PICTURES.search(reason):
                return N_(
                    "%(model)s at %(server)s does not see (%(error)s); leave out --sees",
                    **told | {"model": self.model},
                )
            case openai.APIStatusError():
                return N_(
                    "%(server)s answered %(number)s (%(error)s); look at the server's log",
                    **told | {"number": error.status_code},
                )
        return self._broken_off(reason)

    def _broken_off(self, reason: str) -> str:
        told = {"server": self.url, "error": reason}
        return N_("%(server)s broke off (%(error)s); look at the server's log", **told)


def _is_delimited(headers: Mapping[str, str]) -> bool:
    """Whether HTTP itself says where a response ends, so that one that is cut is an error."""
    return not headers.keys().isdisjoint({"transfer-encoding", "content-length"})


def _messages(message: Content, turns: Sequence[tuple[Content, str]]) -> list[dict[str, Any]]:
    """What the system, the user and, in turns before, the model say."""
    said: list[tuple[str, Content]] = [("user", message)]
    for asked, answer in reversed(turns):
        said[:0] = [("user", asked), ("assistant", answer)]
    return [
        {"role": "system", "content": SYSTEM},
        *({"role": role, "content": _content(content)} for role, content in said),
    ]


def _content(content: Content) -> str | list[dict[str, Any]]:
    """What is said in one message: text, or parts of which some are pictures."""
    if isinstance(content, str):
        return break_control_tokens(content)
    return [
        {"type": "text", "text": break_control_tokens(part)}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": part.url}}
        for part in content
    ]


def _stated_window(model: Any) -> int | None:  # noqa: ANN401 - a line of the server's list
    """The length of context that a server states for a model."""
    more = model.model_extra or {}
    meta = more.get("meta")
    stated = more.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return stated if isinstance(stated, int) and stated > 0 else None


def _key(url: str) -> str | None:
    host = urlsplit(url).hostname or ""
    is_openai = host == "openai.com" or host.endswith(".openai.com")
    any_server = os.environ.get("RAG_APP_API_KEY")
    return any_server or (os.environ.get("OPENAI_API_KEY") if is_openai else None)


def _reason(error: APIError) -> str:
    """What a server says about an error, on one short line."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    return _printable(str(message or ""))


def _printable(text: str) -> str:
    """A foreign text on one short line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line[:200] or "no reason"
