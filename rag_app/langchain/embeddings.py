"""Embeddings of whole documents, whatever their length."""

from __future__ import annotations

import threading

from langchain_core.embeddings import Embeddings

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.loaders.charset import clean


class RagAppEmbeddings(Embeddings):
    """A context-extended encoder: long texts are encoded whole, not truncated.

    Vectors have unit length. The asynchronous methods do the same in a thread.

    Args:
        encoder: Which model and method, or an encoder that is loaded already. None takes the
            packaged model with parallel context windows.

    Raises:
        ModelError: At the first text, when the model cannot be loaded or extended.
    """

    def __init__(self, encoder: EncoderSettings | Encoder | None = None) -> None:
        self._encoder = encoder if isinstance(encoder, Encoder) else None
        self._settings = encoder.settings if isinstance(encoder, Encoder) else encoder
        self._loading = threading.Lock()

    @property
    def encoder(self) -> Encoder:
        """The encoder, loaded at first use."""
        with self._loading:
            if self._encoder is None:
                self._encoder = Encoder(self._settings)
            return self._encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vector (d floats) of each text, independent of the other texts."""
        results = self.encoder.encode([(_document(text), ()) for text in texts])
        return [one.vector.tolist() for one in results]

    def embed_query(self, text: str) -> list[float]:
        """The vector (d floats) of a question; it is truncated to one window."""
        vector: list[float] = self.encoder.encode_queries([clean(text)])[0].tolist()
        return vector


def _document(text: str) -> Document:
    return Document(id="", path="", part="", title="", format="text", digest="", text=clean(text))
