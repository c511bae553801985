"""The upkeep of a corpus: divided, merged, verified, repaired and copied. Its documents stay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import CorpusDamaged
from indexing.store.database_errors import irreparable
from indexing.store.store import Store
from rag_app.corpus.ingestion import Ingestion
from rag_app.corpus.reader import CorpusReader
from rag_app.corpus.shards.manifest import Division

if TYPE_CHECKING:
    from rag_app.corpus.copies.backup import Backup
    from rag_app.corpus.copies.exchange import ImportReport
    from rag_app.corpus.shards.manifest import ShardManifest
    from rag_app.corpus.verification import RepairReport, Verification

Steps = Callable[[int, int], None]


class CorpusMaintenance(CorpusReader):
    """What keeps a corpus sound and quick, and copies it."""

    _ingestion: Ingestion

    # Shards

    @property
    def shards(self) -> ShardManifest | None:
        """The shards that the corpus is divided into; None if it is in one piece.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        self._stores.connection()
        return self._indexes.manifest

    def divide(
        self, shards: int, *, ray: str = "", replicas: int = 1, name: str = "", gpus: float = 0.0
    ) -> ShardManifest:
        """Divide the corpus into shards, or into another number of them; what was published.

        Documents are assigned by a hash of their ids, and none is encoded again. From then on,
        every change of the corpus publishes the shards that it affects, and searches read what is
        published. Their results are those of an undivided corpus.

        Args:
            shards: How many, 1 to 4096.
            ray: The address of a Ray cluster whose machines search the shards, each with this
                folder under the same path; "" to search them in the process that asks.
            replicas: On how many machines of the cluster each shard is loaded.
            name: The corpus's name on the cluster, as in ray://HOST:PORT/NAME; "" for the name of
                its folder.
            gpus: GPUs for each process on the cluster, which compare the vectors of its shard;
                0.25 lets four share one. Scores differ from those of CPUs in their last bits.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusLocked: Others are writing, for longer than this waits.
            InvalidRequest: The number is out of range, no cluster answers at the address, or its
                machines have too few GPUs.
            ShardLost: A shard does not start on the cluster.
        """
        return self._indexes.divide(Division(shards, ray, replicas, name, gpus))

    def unite(self) -> None:
        """Return to one piece. Errors as in `divide`."""
        self._indexes.unite()

    # Maintenance

    def optimize(self) -> int:
        """Merge the segments of the index, or of each shard, into one; how many there were.

        Nothing has to be done for searches to stay quick: segments of a size are merged as they
        come. One is a little quicker still, and takes no room for what has been removed.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        self._stores.connection()
        with self._stores.writing() as store:
            return self._indexes.optimize(store)

    def merge_in_background(self) -> None:
        """Begin to merge segments that are due, for programs that stay, in a pause.

        Others may write meanwhile; closing the corpus, or a crash, ends it without loss.
        """
        if self.exists:
            self._indexes.merge_in_background()

    def verify(self, *, progress: Callable[[int, int], None] | None = None) -> Verification:
        """Compare everything stored with its checksums; damaged documents are listed by name.

        Other processes may search and write at the same time.

        Args:
            progress: Called with the number of documents verified, and their total.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        from indexing.store.repair.verification import Damage, document_rows, verify
        from rag_app.corpus.verification import Verification

        try:
            store = Store(self.folder, check=False)
        except CorpusDamaged as error:
            return Verification(0, (Damage("database", str(error)),))
        with closing(store):
            documents = len(document_rows(store.database))
            damages = verify(store.database, progress=progress)
            if not damages and (reason := self._indexes.published.damage(store)):
                damages = [Damage("index", reason)]
        return Verification(documents, tuple(damages))

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> RepairReport:
        """Encode damaged documents again from their stored text, or read their files again.

        Sound documents stay as they are. A database with damaged pages is kept under another name.

        Args:
            progress: Called with the number of documents done, and their total, in each of three
                steps.

        Raises:
            CorpusDamaged: Nothing in the file can be read.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        from indexing.store.repair.verification import Damage, verify
        from rag_app.corpus.verification import (
            DocumentRepair,
            RepairReport,
            open_damaged,
            salvage_database,
        )

        with self._stores.lock():
            try:
                damaged = open_damaged(self.folder)
            except CorpusDamaged as error:
                raise irreparable(error) from error
            with closing(damaged):
                damages = verify(damaged.database, progress=progress)
                derived = self._indexes.published.damage(damaged) if not damages else ""
                salvage = salvage_database(damaged, damages, progress=progress)
            self._stores.close()
            store = self._stores.connection()
            encoder = cache(lambda: self._models.encoder(store.fingerprint()))
            repair = DocumentRepair(store, encoder, self._ingestion.reader.read)
            repaired, lost = repair.run(damages, salvage.records, progress)
            if damages or derived:
                self._indexes.rebuild(store)
        all_damages = [*damages, *([Damage("index", derived)] if derived else [])]
        remaining = (*salvage.lost, *lost)
        return RepairReport(tuple(all_damages), tuple(repaired), remaining, salvage.aside)

    def backup(self, path: str | Path) -> Backup:
        """Write the corpus as it is now to one file; others may search and write meanwhile.

        Includes a server's conversations and uploaded files, but no derived indexes.

        Args:
            path: The file; an earlier backup of that name is replaced once the new one is complete.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusError: The file cannot be written.
        """
        from importlib.metadata import version

        from rag_app.corpus.copies.backup import write_backup

        return write_backup(
            self._stores.connection(), Path(path).absolute(), version=version("rag-app")
        )

    def restore(self, path: str | Path, *, replace: bool = False) -> Backup:
        """Restore a backup; programs that have the corpus open then use what it contains.

        Args:
            path: A file that `backup` wrote.
            replace: Whether to replace a corpus in the folder, sound or damaged.

        Raises:
            InvalidRequest: There is a corpus in the folder, and `replace` is false.
            UnreadableFile: The file is not a backup, or is damaged; then nothing is changed.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        from rag_app.corpus.copies.backup import read_backup

        with self._stores.lock():
            self._stores.close()
            backup = read_backup(Path(path), self.folder, replace_=replace)
            self._indexes.rebuild(self._stores.connection())
        return backup

    def export_archive(
        self, path: str | Path, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Write documents and vectors as JSON and NumPy arrays, for other versions; how many.

        Args:
            path: The file; an earlier export of that name is replaced once the new one is complete.
            progress: Called with the number of documents written, and their total.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusError: The file cannot be written.
        """
        from importlib.metadata import version

        from rag_app.corpus.copies.exchange import write_export

        store = self._stores.connection()
        return write_export(store, Path(path), version=version("rag-app"), progress=progress)

    def import_archive(
        self, path: str | Path, *, progress: Callable[[int, int], None] | None = None
    ) -> ImportReport:
        """Add the documents of an export, except those whose content is already here.

        They go into the collections that they were in, which are created if necessary. They are
        encoded again if this corpus's vectors are made in another way.

        Args:
            path: A file that `export_archive` wrote, on any machine.
            progress: Called with the number of documents done, and their total.

        Raises:
            UnreadableFile: The file is not an export, or is damaged; documents before the damage
                are added.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        return self._ingestion.import_archive(Path(path), progress)
