"""A reranker by name: a cross-encoder with one score, here or behind a server.

It reads question and passage together and says how well the passage answers. Its order counts, not
its scale: the passages get the scores that the retriever gave, the best one the highest. So nothing
that was fitted on these scores meets others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from generator.evidence import Evidence, Span
from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.part import SEQUENCES, NamedPart, Part
from indexing.models.server.json_server import JsonServer
from indexing.models.server.server_name import is_remote

_PATH = "/rerank"


class RerankingServer:
    """Scores through a server, as Jina, Cohere, vLLM and llama.cpp have it: `POST BASE_URL/rerank`.

    Arguments and errors as of `JsonServer`.
    """

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


Score = Callable[[str, Sequence[str]], Sequence[float]]
"""A question and n passages to n scores; higher is better."""

_AT_ONCE = 8  # passages
_LONGEST = 512  # tokens


class CrossEncoderReranker(NamedPart):
    """Scores with a model on this machine."""

    _purpose = "reranker"
    _kinds: ClassVar = {SEQUENCES: "a cross-encoder with one score"}

    def _check(self, part: Part) -> None:
        if len(part.labels) != 1:
            raise UnsupportedModel(
                f"{self.name} is no reranker: it has {len(part.labels)} classes "
                f"({', '.join(part.labels)}), not one score; a model for inference is a --verifier"
            )

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers.

        Raises:
            ModelNotFound: There is no such model here.
            UnsupportedModel: It is made for something else.
            ModelError: It cannot be loaded.
        """
        import torch

        with self._loading:
            part = self._part
        order = sorted(range(len(passages)), key=lambda i: len(passages[i]))
        found = [0.0] * len(passages)
        for at in range(0, len(order), _AT_ONCE):
            some = order[at : at + _AT_ONCE]
            inputs = part.tokenizer(
                [question] * len(some),
                [passages[i] for i in some],
                truncation="only_second",
                max_length=min(part.longest, _LONGEST),
                padding=True,
                return_tensors="pt",
            ).to(part.model.device)
            with torch.inference_mode():
                logits = part.model(**inputs).logits.float().cpu()
            for i, score in zip(some, logits[:, 0].tolist(), strict=True):
                found[i] = score
        return found


Reranker = CrossEncoderReranker | RerankingServer


def load_reranker(name: str, *, key: str | None = None, notify: Notify | None = None) -> Reranker:
    """What reranks, by its name; loaded, or asked, at the first question.

    Raises:
        InvalidRequest: A server's name is not of that form.
    """
    if is_remote(name):
        return RerankingServer(name, key=key)
    return CrossEncoderReranker(name, notify=notify)


def reranked(evidence: Evidence, question: str, score: Score) -> Evidence:
    """The same passages in the order of their new scores; each place keeps the old score."""
    passages = evidence.passages
    if not passages:
        return evidence
    scores = np.asarray(score(question, [_text(each) for each in passages]), np.float64)
    order = np.argsort(-scores, kind="stable")
    kept = [each.score for each in passages]
    best_first = tuple(
        replace(passages[int(i)], score=old) for i, old in zip(order, kept, strict=True)
    )
    return replace(evidence, passages=best_first)


def _text(span: Span) -> str:
    return span.document.text[span.start : span.end]
