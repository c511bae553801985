"""Embeddings of texts, cached from question to question.

Questions about one document read the same sentences again and again. An encoder gives a text the
same vector in any company, so a vector that is kept is the one that would be made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

Vectors = npt.NDArray[np.float32]
Embed = Callable[[list[str]], Vectors]

MAX_VECTORS = 50_000  # vectors; 75 MB with 384 dimensions


class EmbeddingCache:
    """An `embed` that makes each vector once, for several threads; those not used lately go."""

    def __init__(self, embed: Embed, *, max_vectors: int = MAX_VECTORS) -> None:
        self._embed = embed
        self._vectors: LRUCache[str, Vectors] = LRUCache(max_vectors)
        self._lock = threading.Lock()

    def __call__(self, texts: list[str]) -> Vectors:
        """The vectors of texts, (n, d) float32, in order."""
        with self._lock:
            vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        embedded = self._embed(new)
        vectors.update(zip(new, embedded, strict=True))
        with self._lock:
            self._vectors.update((text, vectors[text].copy()) for text in new)
        return np.stack([vectors[text] for text in texts]) if texts else embedded
