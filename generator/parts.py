"""The learned parts of an answer beside encoder and language model: names, and a digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from generator.extractive.fitted import FITTED_FILE, LORA_WEIGHTS
from generator.reader.inputs import PACKAGED_READERS
from indexing.encoder.fingerprint import Fingerprint
from indexing.errors import InvalidRequest
from indexing.models.files import (
    LARGE_ENCODER,
    MULTILINGUAL_ENCODER,
    PACKAGED_PART,
    content_hash,
    has_large,
    has_multilingual,
    part_weights,
)
from indexing.models.server.server_name import is_remote

NO_RERANKER = "none"


@dataclass(frozen=True, slots=True)
class Parts:
    """Which models read, check and order evidence.

    Attributes:
        reader: Which sentences answer, and which words: "packaged" (which reads the best again
            with a second model where it is sure of none, or they are not in English, and the extra
            `multilingual` is installed), "multilingual-e5-small" (the same always),
            "all-mpnet-base-v2" (as packaged, then what is in English by that one too; the default
            where it is installed), or the folder or hub name of a model for question answering
            (extractive, of the SQuAD 2.0 kind).
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


def models_digest(fingerprint: Fingerprint, parts: Parts) -> str:
    """Of all models that decide the probability that documents answer; 16 hexadecimal digits.

    Raises:
        ModelNotFound: There is no such reader or reranker here.
    """
    files = [FITTED_FILE, *([LORA_WEIGHTS] if LORA_WEIGHTS.exists() else [])]
    values = {
        "encoder": fingerprint.as_dict(),
        "reader": _reader_revision(parts.reader),
        "reranker": _revision(parts.reranker),
        "fitted": content_hash(files),
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def reads_larger(name: str) -> bool:
    """Whether a reader of that name is the larger one, as by default where that is installed."""
    return name == LARGE_ENCODER or (name == PACKAGED_PART and has_large())


def _reader_revision(name: str) -> str:
    name = LARGE_ENCODER if reads_larger(name) else name
    if name == PACKAGED_PART and has_multilingual():
        both = content_hash([*PACKAGED_READERS[MULTILINGUAL_ENCODER]])
        return f"{both} where one is not enough"
    weights = PACKAGED_READERS.get(name)
    return content_hash([*weights]) if weights else _revision(name)


def _revision(name: str) -> str:
    if name == NO_RERANKER or is_remote(name):
        return name
    return f"{name}@{part_weights(name).revision}"
