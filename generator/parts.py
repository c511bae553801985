"""The names of the learned parts of an answer beside encoder and language model."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.errors import InvalidRequest
from indexing.models.files import PACKAGED_PART

NO_RERANKER = "none"


@dataclass(frozen=True, slots=True)
class Parts:
    """Which models read, check and order evidence.

    Attributes:
        reader: Which sentences answer, and which words: "packaged", or the folder or hub name of
            a model for question answering (extractive, of the SQuAD 2.0 kind).
        verifier: Whether evidence supports a sentence: "packaged", or a model for inference (NLI)
            or for tokens that nothing supports.
        reranker: Which passages come first: "none", or a cross-encoder with one score, or
            `openai:BASE_URL#MODEL` for a server with `/rerank`.
    """

    reader: str = PACKAGED_PART
    verifier: str = PACKAGED_PART
    reranker: str = NO_RERANKER

    def __post_init__(self) -> None:
        for kind, name in (
            ("reader", self.reader), ("verifier", self.verifier), ("reranker", self.reranker),
        ):  # fmt: skip
            if not name.strip():
                raise InvalidRequest(f"a {kind} needs a name: a folder, or org/model")
