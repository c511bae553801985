"""A server that is sent JSON and answers JSON, at an address that a person named.

Only what is posted is sent, to that server and to no other: no redirect is followed, no proxy is
asked. The key is $RAG_APP_API_KEY, if there is one.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any

from indexing.errors import ServerFailed
from indexing.models.server.server_name import parse_server_name

_SECONDS = 60.0
_MOST_BYTES = 64_000_000  # of a reply


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - as it is called
        return None


class JsonServer:
    """A model behind a server.

    Args:
        name: `openai:BASE_URL#MODEL`.
        flag: What the model was named by, for messages: "--reranker".
        key: Sent to the server and nobody else; "" for none, None for the environment's.

    Raises:
        InvalidRequest: The name is not of that form, or holds a password.
    """

    def __init__(self, name: str, *, flag: str, key: str | None = None) -> None:
        self.name, self._flag = name, flag
        self.url, self.model = parse_server_name(name)
        self._key = os.environ.get("RAG_APP_API_KEY", "") if key is None else key
        handlers = urllib.request.ProxyHandler({}), _NoRedirect()
        self._open = urllib.request.build_opener(*handlers).open

    def post(self, path: str, said: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """What the server answers to this and the model's name.

        Raises:
            ServerFailed: It cannot be reached, refuses, or answers no JSON.
        """
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self.model, **said}).encode()
        request = urllib.request.Request(  # noqa: S310 - the name allows http and https only
            f"{self.url}{path}", body, headers
        )
        try:
            with self._open(request, timeout=_SECONDS) as reply:
                return json.loads(reply.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            reason = f"refused with {error.code}"
        except (OSError, ValueError) as error:
            reason = f"failed ({type(error).__name__})"
        raise ServerFailed(
            f"{self.url}{path} {reason}; check the address, the model's name {self.model!r} and "
            f"RAG_APP_API_KEY, or go on without {self._flag}"
        )

    def misunderstood(self, path: str, form: str) -> ServerFailed:
        """The error for an answer of another form."""
        return ServerFailed(
            f"{self.url}{path} answered in another form than {form}; name a server that has it, "
            f"or go on without {self._flag}"
        )
