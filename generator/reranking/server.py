"""A reranker behind a server: `POST BASE_URL/rerank`, as Jina, Cohere, vLLM, llama.cpp have it.

Named `openai:BASE_URL#MODEL`, as a language model is; it is sent the question and the passages.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexing.models.server.json_server import JsonServer

_PATH = "/rerank"


class RerankingServer:
    """Scores through a server; arguments and errors as of `JsonServer`."""

    def __init__(self, name: str, *, key: str | None = None) -> None:
        self._server = JsonServer(name, flag="--reranker", key=key)

    @property
    def described(self) -> str:
        """Its name; what is behind it, only the server knows."""
        return self._server.name

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers.

        Raises:
            ServerFailed: The server cannot be reached, refuses, or answers something else.
        """
        said = {"query": question, "documents": list(passages), "top_n": len(passages)}
        reply = self._server.post(_PATH, said)
        try:
            rows = reply["results"] if isinstance(reply, dict) else reply
            found = {int(row["index"]): float(row["relevance_score"]) for row in rows}
            return [found[i] for i in range(len(passages))]
        except (KeyError, TypeError, ValueError) as error:
            raise self._server.misunderstood(_PATH, "results[index, relevance_score]") from error
