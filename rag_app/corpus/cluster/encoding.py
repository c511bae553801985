"""Documents encoded by the workers of a Ray cluster, one worker per document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from indexing.documents import Document, Passage
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.lookahead import Encoding, Lookahead
from indexing.encoder.settings import EncoderSettings
from indexing.errors import EncoderMismatch
from rag_app.corpus.cluster.workers import RayWorkers, WorkerPool, lasting


def encoder_on(
    workers: RayWorkers, settings: EncoderSettings, *, notify: Callable[[str], None] | None = None
) -> Lookahead:
    """What encodes documents on a cluster; the first worker says how the vectors are made.

    Raises:
        InvalidRequest: No cluster answers at the address, or a setting does not exist.
        MissingDependency: Ray is not installed.
        ModelError: The model is not there on a machine of the cluster.
    """
    pool = WorkerPool(workers, notify)
    settings = replace(settings, model=lasting(settings.model))
    fingerprint = pool.call(settings.model, _fingerprint, settings)()
    same = replace(
        settings,
        extension=fingerprint.extension,
        max_length=fingerprint.max_length,
        dtype=fingerprint.dtype,
    )

    def begin(document: Document, passages: Sequence[Passage]) -> Callable[[], Encoding]:
        return pool.call(document.title, encode, same, fingerprint, document, tuple(passages))

    return Lookahead(fingerprint, begin, lambda: max(1, pool.count))


def encode(
    settings: EncoderSettings,
    fingerprint: Fingerprint,
    document: Document,
    passages: Sequence[Passage],
) -> Encoding:
    """What a worker does.

    Raises:
        EncoderMismatch: Its machine makes the vectors in another way.
    """
    encoder = _encoder(settings)
    if encoder.fingerprint != fingerprint:
        from socket import gethostname

        raise EncoderMismatch(
            f"{gethostname()}: {settings.model} is of another revision there; install the same on "
            "all machines of the cluster"
        )
    tokens = [0]
    (encoded,) = encoder.encode([(document, passages)], progress=tokens.append)
    return Encoding(encoded, sum(tokens))


def _fingerprint(settings: EncoderSettings) -> Fingerprint:
    return _encoder(settings).fingerprint


@lru_cache(maxsize=1)
def _encoder(settings: EncoderSettings) -> Encoder:
    """The encoder of a worker, which stays loaded from document to document."""
    return Encoder(settings)
