"""A reranker behind a server: `POST BASE_URL/rerank`, as Jina, Cohere, vLLM, llama.cpp have it.

Named `openai:BASE_URL#MODEL`, as a language model is. The question and the passages are sent to the
server that was named and to no other: no redirect is followed, no proxy is asked. Its key is
$RAG_APP_API_KEY, if there is one.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from generator.lm.model_name import parse_server_name
from indexing.errors import ServerFailed

_SECONDS = 60.0
_MOST_BYTES = 8_000_000  # of a reply


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - as it is called
        return None


class RerankingServer:
    """Scores through a server.

    Args:
        name: `openai:BASE_URL#MODEL`.
        key: Sent to the server and nobody else; "" for none, None for the environment's.

    Raises:
        InvalidRequest: The name is not of that form, or holds a password.
    """

    def __init__(self, name: str, *, key: str | None = None) -> None:
        self.name = name
        self.url, self.model = parse_server_name(name)
        self._key = os.environ.get("RAG_APP_API_KEY", "") if key is None else key
        self._open = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _NoRedirect()
        ).open

    @property
    def described(self) -> str:
        """Its name; what is behind it, only the server knows."""
        return self.name

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers.

        Raises:
            ServerFailed: The server cannot be reached, refuses, or answers something else.
        """
        said = {
            "model": self.model,
            "query": question,
            "documents": list(passages),
            "top_n": len(passages),
        }
        return self._scores(self._post(said), len(passages))

    def _post(self, said: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310 - parse_server_name allows http and https
            f"{self.url}/rerank", json.dumps(said).encode(), headers
        )
        try:
            with self._open(request, timeout=_SECONDS) as reply:
                return json.loads(reply.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            reason = f"refused with {error.code}"
        except (OSError, ValueError) as error:
            reason = f"failed ({type(error).__name__})"
        raise ServerFailed(
            f"{self.url}/rerank {reason}; check the address, the model's name {self.model!r} and "
            "RAG_APP_API_KEY, or go on without --reranker"
        )

    def _scores(self, reply: Any, count: int) -> list[float]:  # noqa: ANN401 - JSON
        try:
            rows = reply["results"] if isinstance(reply, dict) else reply
            found = {int(row["index"]): float(row["relevance_score"]) for row in rows}
            return [found[i] for i in range(count)]
        except (KeyError, TypeError, ValueError) as error:
            raise ServerFailed(
                f"{self.url}/rerank answered in another form than results[index, relevance_score]; "
                "name a server that has /v1/rerank, or go on without --reranker"
            ) from error
