"""Encodes every document of a store again; all vectors are replaced at once at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from indexing.documents import Document, Passage
from indexing.encoder.lookahead import DocumentEncoder, Lookahead, take_ahead
from indexing.index_report import Progress
from indexing.store.store import Store

Encodable = tuple[Document, Sequence[Passage]]


def reencode(
    store: Store, encoder: DocumentEncoder, *, progress: Callable[[Progress], None] | None = None
) -> int:
    """Give every document vectors of another fingerprint; how many were encoded in this run.

    The corpus keeps its old vectors until the last new one is there. A killed run is resumed by the
    next.
    """
    pending = store.reencoding.pending(encoder.fingerprint)
    tokens = 0
    ahead = encoder if isinstance(encoder, Lookahead) else None
    documents = ((store.document(id_), store.passages_of(id_)) for id_ in pending)
    for done, (document, passages) in enumerate(_prefetched(documents, ahead), 1):
        (encoded,) = encoder.encode([(document, passages)])
        store.reencoding.put(document.id, encoded, encoder.fingerprint)
        tokens += encoded.encoded
        if progress:
            workers = ahead.workers() if ahead else 0
            progress(Progress(done, len(pending), tokens, document.path, workers=workers))
    store.reencoding.adopt(encoder.fingerprint)
    return len(pending)


def _prefetched(documents: Iterable[Encodable], encoder: Lookahead | None) -> Iterator[Encodable]:
    """Documents with their passages as they come, some announced to workers ahead."""
    if encoder is None:
        return iter(documents)
    return take_ahead(
        documents, lambda one: encoder.expect(*one), has_room=lambda: encoder.has_room
    )
