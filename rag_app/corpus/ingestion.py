"""Files and documents in, an up-to-date corpus out: read, encoded, committed and indexed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Document
from indexing.limits import FileLimits
from indexing.store.collections import DEFAULT, collection_name
from indexing.store.store import Store
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.models import Models
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from indexing.encoder.lookahead import Lookahead
    from indexing.files import FileReader
    from indexing.index_report import IndexReport, Progress
    from indexing.indexer import Indexer
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.copies.exchange import ImportReport
    from rag_app.corpus.models import AnyEncoder


@dataclass(frozen=True)
class Ingestion:
    """What brings files and documents into a corpus."""

    stores: Stores  # where they go
    indexes: Indexes  # what is derived from them
    models: Models  # what encodes them
    workers: RayWorkers | None  # the Ray cluster that encodes instead, if there is one
    limits: FileLimits  # limits on reading one file
    # how to read pages that are pictures; None for any engine that is installed
    ocr: OcrSettings | None

    def close(self) -> None:
        """End the process that reads files."""
        if "reader" in self.__dict__:
            self.reader.close()

    @cached_property
    def reader(self) -> FileReader:
        """What reads files."""
        from indexing.files import FileReader

        return FileReader(self.limits, self.ocr)

    def add(  # noqa: PLR0913 - as in `Corpus.add`
        self,
        files: Sequence[Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        recheck: bool = False,
        collection: str = DEFAULT,
        owner: str | None = None,
        among: Collection[Path] | None = None,
        growing: Collection[Path] = (),
    ) -> IndexReport:
        """Add or update files and folders; arguments and errors as in `Corpus.add`."""
        from indexing.indexer import nothing_to_read

        collection = collection_name(collection)
        if not self.stores.exists:
            nothing = nothing_to_read(files, pictures=self.reader.ocr.is_named)
            if nothing is not None:
                return nothing
        with self.stores.writing() as store:
            if owner is not None:
                store.collections.claim(collection, owner)
            indexer = self._indexer(store, progress, recheck=recheck, collection=collection)
            if growing and self.workers is None:
                indexer.encoder = cache(lambda: _keeping_windows(self._encoder(store)))
            with self.indexes.publishing(store):
                report = indexer.add(files, among=among, growing=growing)
        return report

    def add_documents(self, documents: Iterable[Document], collection: str) -> IndexReport:
        """Add or update documents, taken one by one."""
        collection = collection_name(collection)
        with self.stores.writing() as store:
            indexer = self._indexer(store, collection=collection)
            with self.indexes.publishing(store):
                report = indexer.add_documents(documents)
        return report

    def import_archive(
        self, path: Path, progress: Callable[[int, int], None] | None
    ) -> ImportReport:
        """Add the documents of an export; errors as in `Corpus.import_archive`."""
        from rag_app.corpus.copies import archive
        from rag_app.corpus.copies.exchange import FORMAT, import_documents

        with (
            archive.reading(path, kind="export", format_=FORMAT) as export,
            self.stores.writing() as store,
        ):
            encoder = self.models.encoder(store.fingerprint())
            with self.indexes.publishing(store):
                report = import_documents(store, export, encoder, progress=progress)
        return report

    def reencode(self, progress: Callable[[Progress], None] | None) -> int:
        """Encode every document again with the encoder asked for; how many in this run."""
        from indexing.reencoding import reencode

        self.stores.connection()
        with self.stores.writing() as store:
            local = self.models.new_encoder() if self.workers is None else None
            encoder = local or self.models.new_encoder_on(self._required_workers)
            if store.fingerprint() == encoder.fingerprint:
                return 0
            count = reencode(store, encoder, progress=progress)
            self.models.use_encoder(local)
            self.indexes.refresh(store)
        return count

    def _indexer(
        self,
        store: Store,
        progress: Callable[[Progress], None] | None = None,
        *,
        recheck: bool = False,
        collection: str,
    ) -> Indexer:
        from indexing.indexer import Indexer

        if self.workers is not None:
            lookahead = cache(lambda: self._lookahead(store))
            return Indexer(
                store, lookahead, progress, self.reader, recheck, collection, ahead=lookahead
            )
        self.models.check(store.fingerprint())
        encoder = cache(lambda: self._encoder(store))
        return Indexer(store, encoder, progress, self.reader, recheck, collection)

    def _encoder(self, store: Store) -> AnyEncoder:
        """The encoder of this process, whose vectors the store holds from now on."""
        encoder = self.models.encoder(store.fingerprint())
        store.set_fingerprint(encoder.fingerprint)
        return encoder

    def _lookahead(self, store: Store) -> Lookahead:
        """As `_encoder`, by the workers of the cluster."""
        lookahead = self.models.encoder_on(self._required_workers, store.fingerprint())
        store.set_fingerprint(lookahead.fingerprint)
        return lookahead

    @property
    def _required_workers(self) -> RayWorkers:
        assert self.workers is not None, "there are some wherever they are used"
        return self.workers


def _keeping_windows(encoder: AnyEncoder) -> AnyEncoder:
    """An encoder that runs no window of a document twice, if it is here."""
    from indexing.encoder.encoder import Encoder
    from rag_app.corpus.watching.kept_windows import KeptWindows

    if isinstance(encoder, Encoder):
        encoder.kept = encoder.kept or KeptWindows()
    return encoder
