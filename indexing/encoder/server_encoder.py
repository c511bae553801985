"""An encoder behind a server: `POST BASE_URL/embeddings`, as OpenAI, vLLM, llama.cpp have it.

Named `openai:BASE_URL#MODEL`. A server gives a vector of a text and no states of its tokens, so
each passage is encoded by itself, without the text around it, and a document's vector is the mean
of its passages'. Which weights are behind the name, only the server knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from indexing.documents import Document, Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument, FloatArray, unit
from indexing.encoder.settings import EncoderSettings
from indexing.models.server.json_server import JsonServer

_PATH = "/embeddings"
_FORM = "data[index, embedding]"
_AT_ONCE = 32  # texts of a request
_LONGEST = 2_000  # characters of a document without passages
_PROBE = "What is this about?"


class ServerEncoder:
    """Encodes through a server; used as `Encoder`.

    Attributes:
        fingerprint: How its vectors are made; its dimension is asked for once.

    Args:
        settings: With the server's name; nothing else of them counts.
        key: Sent to the server and nobody else; "" for none, None for the environment's.

    Raises:
        InvalidRequest: The name is not of that form, or holds a password.
        ServerFailed: The server cannot be reached, refuses, or answers something else.
    """

    def __init__(self, settings: EncoderSettings, *, key: str | None = None) -> None:
        self.settings = settings
        self._server = JsonServer(settings.model, flag="--encoder", key=key)
        self.fingerprint = Fingerprint(
            model=settings.model,
            revision="behind a server",
            extension="none",
            max_length=0,
            pooling="server",
            dtype="float32",
            dimension=len(self._vectors([_PROBE])[0]),
        )

    def encode(
        self,
        documents: Sequence[tuple[Document, Sequence[Passage]]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        """As `Encoder.encode`; words are counted for tokens."""
        return [self._encode(one, passages, progress) for one, passages in documents]

    def _encode(
        self,
        document: Document,
        passages: Sequence[Passage],
        progress: Callable[[int], None] | None,
    ) -> EncodedDocument:
        texts = [document.text[each.start : each.end] for each in passages]
        vectors = self._all([each if each.strip() else " " for each in texts], progress)
        for row, text in enumerate(texts):
            if not text.strip():
                vectors[row] = 0
        whole = vectors if vectors.any() else self._all([document.text[:_LONGEST] or " "], None)
        words = len(document.text.split())
        return EncodedDocument(unit(whole.mean(0)[None])[0], vectors, words, words)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Encode queries, (n, d) float32 with unit rows."""
        return self._all([each or " " for each in texts], None)

    def _all(self, texts: Sequence[str], progress: Callable[[int], None] | None) -> FloatArray:
        """(n, d) unit rows, some texts at a time."""
        found = list(self._in_parts(texts, progress))
        if not found:
            return np.zeros((0, self.fingerprint.dimension), np.float32)
        return unit(np.concatenate(found))

    def _in_parts(
        self, texts: Sequence[str], progress: Callable[[int], None] | None
    ) -> Iterator[FloatArray]:
        for at in range(0, len(texts), _AT_ONCE):
            some = texts[at : at + _AT_ONCE]
            vectors = self._vectors(some)
            if vectors.shape[1] != self.fingerprint.dimension:
                raise self._server.misunderstood(
                    _PATH, f"vectors of {self.fingerprint.dimension} numbers"
                )
            if progress:
                progress(sum(len(each.split()) for each in some))
            yield vectors

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        """(n, d) as the server gives them."""
        reply = self._server.post(_PATH, {"input": list(texts), "encoding_format": "float"})
        try:
            by_index = {int(row["index"]): row["embedding"] for row in reply["data"]}
            vectors = np.array([by_index[i] for i in range(len(texts))], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise self._server.misunderstood(_PATH, _FORM) from error
        if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            raise self._server.misunderstood(_PATH, _FORM)
        return vectors
