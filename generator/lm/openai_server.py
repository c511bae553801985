"""A language model behind an OpenAI-compatible server (vLLM, llama.cpp, Ollama and others).

Named `openai:BASE_URL#MODEL`, as in `openai:http://localhost:11434/v1#qwen3`. Only this file speaks
to a network, and only to the server that was named. The key comes from the environment alone:
$RAG_APP_API_KEY for any server, $OPENAI_API_KEY for OpenAI's own and no other.

A server gives text and nothing else, so whatever needs the model's scores or attention is refused
(`needs_internals`). Its tokenizer is not known here: tokens are estimated, and what is spelled like
a control token is pulled apart, as servers may read it as one.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.lm.model_name import parse_server_name
from generator.lm.sampling import Sampling
from generator.prompt.builder import SYSTEM
from generator.prompt.server_chat import ServerChat, break_control_tokens
from indexing.errors import ServerFailed

if TYPE_CHECKING:
    import httpx2

_TRIES = 3
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 20.0  # seconds between two tries, whatever the server asks for
_MOST_CHARACTERS = 40  # a token, before a server's answer is cut


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server may take.

    Attributes:
        connect: Seconds until it answers the phone.
        read: Seconds between two pieces of an answer, the first one included.
        wait: Seconds before the second try; doubled before each further one.
    """

    connect: float = 10.0
    read: float = 120.0
    wait: float = 0.5


class RemoteModel:
    """A model behind a server: messages in, text out, piece by piece.

    Args:
        name: `openai:BASE_URL#MODEL`.
        patience: How long the server may take.

    Raises:
        InvalidRequest: The name is not of that form, or holds a password.
    """

    def __init__(self, name: str, *, patience: Patience | None = None) -> None:
        self.name = name
        self.url, self.model = parse_server_name(name)
        self._patience = patience or Patience()
        self.chat = ServerChat()

    def count(self, text: str) -> int:
        """An estimate of how many tokens a text takes."""
        return len(self.chat.content(text))

    def stream(
        self,
        message: str,
        *,
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
    ) -> Generator[str]:
        """The answer to a message, in pieces that are never taken back.

        What fails before the first piece is tried again, a few times.

        Raises:
            ServerFailed: The server cannot be reached, refuses, or answers in another language.
        """
        how = sampling or Sampling()
        body = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": break_control_tokens(message)},
            ],
            "max_tokens": max_new_tokens,
            "temperature": how.temperature,
            "top_p": how.top_p,
            "seed": how.seed,
            "stream": True,
        }
        left = _MOST_CHARACTERS * max_new_tokens
        with closing(self._tried(body)) as pieces:
            for piece in pieces:
                if stop is not None and stop.is_set():
                    return
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    def _tried(self, body: dict[str, Any]) -> Generator[str]:
        wait = self._patience.wait
        for left in reversed(range(_TRIES)):
            begun = False
            try:
                for piece in self._once(body):
                    begun = True
                    yield piece
                return
            except _AgainError as again:
                if begun or not left:
                    raise ServerFailed(str(again)) from again
                time.sleep(min(max(wait, again.after), _LONGEST_WAIT))
                wait *= 2

    def _once(self, body: dict[str, Any]) -> Iterator[str]:
        """One request, its events as text."""
        import httpx2

        seconds = httpx2.Timeout(self._patience.read, connect=self._patience.connect)
        headers = {"Authorization": f"Bearer {key}"} if (key := _key(self.url)) else {}
        url = f"{self.url}/chat/completions"
        try:
            with (
                httpx2.Client(timeout=seconds) as client,
                client.stream("POST", url, json=body, headers=headers) as answer,
            ):
                if answer.status_code != 200:
                    raise self._refused(answer)
                yield from self._pieces(answer)
        except httpx2.TimeoutException as error:
            raise _AgainError(
                f"{self.url} did not answer in time ({self._patience.read:g} s); "
                "see whether the server is busy or still loading, then ask again"
            ) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise _AgainError(
                f"{self.url} cannot be reached ({error or type(error).__name__}); "
                "start the server, or correct the address after openai:"
            ) from error

    def _refused(self, answer: httpx2.Response) -> Exception:
        """The error that a status stands for, with the server's own words."""
        said = _said(answer.read().decode("utf-8", "replace"))
        status = answer.status_code
        if status in {401, 403}:
            return ServerFailed(
                f"{self.url} refuses the key ({status}: {said}); set RAG_APP_API_KEY"
            )
        if status == 404:
            return ServerFailed(
                f"{self.url} knows no {self.model!r} ({said}); look at {self.url}/models"
            )
        message = f"{self.url} answered {status} ({said}); look at the server's log"
        if status in _TRY_AGAIN:
            return _AgainError(message, after=_seconds(answer.headers.get("retry-after")))
        return ServerFailed(message)

    def _pieces(self, answer: httpx2.Response) -> Iterator[str]:
        """Text out of server-sent events, or out of one JSON object where nothing is streamed."""
        done = False
        if "json" in answer.headers.get("content-type", ""):
            yield _text(self.url, answer.read().decode("utf-8", "replace"), "message")
            return
        for line in answer.iter_lines():
            if not line.startswith("data:"):
                continue
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            done = True
            if piece := _text(self.url, data, "delta"):
                yield piece
        if not done:
            raise ServerFailed(
                f"{self.url} sent no answer; see whether it is an OpenAI-compatible server, and "
                "whether the address ends as its documentation says (often /v1)"
            )


class _AgainError(Exception):
    """What may go better the next time."""

    def __init__(self, message: str, *, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


def _key(url: str) -> str | None:
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    own = os.environ.get("RAG_APP_API_KEY")
    openai = host == "openai.com" or host.endswith(".openai.com")
    return own or (os.environ.get("OPENAI_API_KEY") if openai else None)


def _text(url: str, data: str, part: str) -> str:
    """The text of one event, whose `part` is "delta" or "message"."""
    try:
        event = json.loads(data)
        if isinstance(event, dict) and event.get("error"):
            raise ServerFailed(f"{url} broke off ({_said(data)}); look at the server's log")
        choices = event["choices"]
        return str(choices[0][part].get("content") or "") if choices else ""
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ServerFailed(
            f"{url} answered what no OpenAI-compatible server would ({_said(data)}); "
            "correct the address after openai:"
        ) from error


def _said(body: str) -> str:
    """What a server says about an error, on one short line."""
    try:
        error = json.loads(body)["error"]
        body = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        pass
    return (
        " ".join("".join(c if c.isprintable() else " " for c in body).split())[:200] or "no reason"
    )


def _seconds(value: str | None) -> float:
    """A Retry-After header in seconds; 0 for a date or nothing."""
    return float(value) if value and value.isdigit() else 0.0
