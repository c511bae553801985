"""Files and documents in, an up-to-date corpus out: read, encoded, committed and indexed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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
    from indexing.encoder.encoder import Encoder
    from indexing.encoder.lookahead import Lookahead
    from indexing.files import FileReader
    from indexing.index_report import IndexReport, Progress
    from indexing.indexer import Indexer
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.copies.exchange import ImportReport


class Ingestion:
    """What brings files and documents into a corpus.

    Args:
        stores: Where they go.
        indexes: What is derived from them.
        models: What encodes them.
        workers: The Ray cluster that encodes instead, if there is one.
        limits: What one file may take to be read.
        ocr: How pages that are pictures are read; None for any engine that is installed.
    """

    def __init__(  # noqa: PLR0913 - the parts it joins, by keyword
        self,
        stores: Stores,
        indexes: Indexes,
        models: Models,
        *,
        workers: RayWorkers | None,
        limits: FileLimits,
        ocr: OcrSettings | None,
    ) -> None:
        self._stores, self._indexes, self._models = stores, indexes, models
        self._workers, self._limits, self._ocr = workers, limits, ocr

    def close(self) -> None:
        """End the process that reads files."""
        if "reader" in self.__dict__:
            self.reader.close()

    @cached_property
    def reader(self) -> FileReader:
        """What reads files."""
        from indexing.files import FileReader

        return FileReader(self._limits, self._ocr)

    def add(  # noqa: PLR0913 - as in `Corpus.add`
        self,
        files: Sequence[Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        recheck: bool = False,
        collection: str = DEFAULT,
        owner: str | None = None,
        among: Collection[Path] | None = None,
    ) -> IndexReport:
        """Add or update files and folders; arguments and errors as in `Corpus.add`."""
        from indexing.indexer import nothing_to_read

        collection = collection_name(collection)
        if not self._stores.exists:
            nothing = nothing_to_read(files, pictures=self.reader.ocr.is_named)
            if nothing is not None:
                return nothing
        with self._stores.writing() as store:
            if owner is not None:
                store.collections.claim(collection, owner)
            indexer = self._indexer(store, progress, recheck=recheck, collection=collection)
            report = indexer.add(files, among=among)
            self._indexes.refresh(store)
        return report

    def add_documents(self, documents: Iterable[Document], collection: str) -> IndexReport:
        """Add or update documents, taken one by one."""
        collection = collection_name(collection)
        with self._stores.writing() as store:
            indexer = self._indexer(store, collection=collection)
            report = indexer.add_documents(documents)
            self._indexes.refresh(store)
        return report

    def import_archive(
        self, path: Path, progress: Callable[[int, int], None] | None
    ) -> ImportReport:
        """Add the documents of an export; errors as in `Corpus.import_archive`."""
        from rag_app.corpus.copies import archive
        from rag_app.corpus.copies.exchange import FORMAT, import_documents

        with (
            archive.reading(path, kind="export", format_=FORMAT) as export,
            self._stores.writing() as store,
        ):
            encoder = self._models.encoder(store.fingerprint())
            report = import_documents(store, export, encoder, progress=progress)
            self._indexes.refresh(store)
        return report

    def reencode(self, progress: Callable[[Progress], None] | None) -> int:
        """Encode every document again with the encoder asked for; how many in this run."""
        from indexing.reencoding import reencode

        self._stores.connection()
        with self._stores.writing() as store:
            local = self._models.new_encoder() if self._workers is None else None
            encoder = local or self._models.new_encoder_on(self._required_workers)
            if store.fingerprint() == encoder.fingerprint:
                return 0
            count = reencode(store, encoder, progress=progress)
            self._models.use_encoder(local)
            self._indexes.refresh(store)
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

        if self._workers is not None:
            lookahead = cache(lambda: self._lookahead(store))
            return Indexer(
                store, lookahead, progress, self.reader, recheck, collection, ahead=lookahead
            )
        self._models.check(store.fingerprint())
        encoder = cache(lambda: self._encoder(store))
        return Indexer(store, encoder, progress, self.reader, recheck, collection)

    def _encoder(self, store: Store) -> Encoder:
        """The encoder of this process, whose vectors the store holds from now on."""
        encoder = self._models.encoder(store.fingerprint())
        store.set_fingerprint(encoder.fingerprint)
        return encoder

    def _lookahead(self, store: Store) -> Lookahead:
        """As `_encoder`, by the workers of the cluster."""
        lookahead = self._models.encoder_on(self._required_workers, store.fingerprint())
        store.set_fingerprint(lookahead.fingerprint)
        return lookahead

    @property
    def _required_workers(self) -> RayWorkers:
        assert self._workers is not None, "there are some wherever they are used"
        return self._workers
