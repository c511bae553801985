"""A digest of all models that decide the probability that documents answer a question."""

from __future__ import annotations

import hashlib
import json

from generator.extractive.fitted import FITTED_FILE, LORA_WEIGHTS
from generator.parts import NO_RERANKER, Parts
from generator.reader.weights import READER_WEIGHTS
from indexing.encoder.fingerprint import Fingerprint
from indexing.models.files import PACKAGED_PART, content_hash, part_weights
from indexing.models.server.server_name import is_remote


def models_digest(fingerprint: Fingerprint, parts: Parts) -> str:
    """Of the encoder, the reader, the reranker, and what joins them; sixteen hexadecimal digits.

    Raises:
        ModelNotFound: There is no such reader or reranker here.
    """
    files = [FITTED_FILE, *([LORA_WEIGHTS] if LORA_WEIGHTS.exists() else [])]
    reader = content_hash([READER_WEIGHTS]) if parts.reader == PACKAGED_PART else ""
    values = {
        "encoder": fingerprint.as_dict(),
        "reader": reader or _revision(parts.reader),
        "reranker": _revision(parts.reranker),
        "fitted": content_hash(files),
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _revision(name: str) -> str:
    if name == NO_RERANKER or is_remote(name):
        return name
    return f"{name}@{part_weights(name).revision}"
