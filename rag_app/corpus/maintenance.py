"""A corpus that may be damaged in, a sound one out: verified, repaired, or restored."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import CorpusDamaged
from indexing.store.database_errors import irreparable
from indexing.store.store import Store
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.ingestion import Ingestion
from rag_app.corpus.models import Models
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from rag_app.corpus.copies.backup import Backup
    from rag_app.corpus.verification import RepairReport, Verification

Steps = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What verifies, repairs and restores a corpus."""

    folder: Path
    stores: Stores
    indexes: Indexes
    models: Models
    ingestion: Ingestion

    def verify(self, progress: Steps | None) -> Verification:
        """Compare everything stored with its checksums; errors as in `Corpus.verify`."""
        from indexing.store.repair.verification import Damage, document_rows, verify
        from rag_app.corpus.verification import Verification

        try:
            store = Store(self.folder, check=False)
        except CorpusDamaged as error:
            return Verification(0, (Damage("database", str(error)),))
        with closing(store):
            documents = len(document_rows(store.database))
            damages = verify(store.database, progress=progress)
            if not damages and (reason := self.indexes.damage(store)):
                damages = [Damage("index", reason)]
        return Verification(documents, tuple(damages))

    def repair(self, progress: Steps | None) -> RepairReport:
        """Make what is damaged sound again; errors as in `Corpus.repair`."""
        from indexing.store.repair.verification import Damage, verify
        from rag_app.corpus.verification import (
            DocumentRepair,
            RepairReport,
            open_damaged,
            salvage_database,
        )

        with self.stores.lock():
            try:
                damaged = open_damaged(self.folder)
            except CorpusDamaged as error:
                raise irreparable(error) from error
            with closing(damaged):
                damages = verify(damaged.database, progress=progress)
                derived = self.indexes.damage(damaged) if not damages else ""
                salvage = salvage_database(damaged, damages, progress=progress)
            self.stores.close()
            store = self.stores.connection()
            encoder = cache(lambda: self.models.encoder(store.fingerprint()))
            repair = DocumentRepair(store, encoder, self.ingestion.reader.read)
            repaired, lost = repair.run(damages, salvage.records, progress)
            if damages or derived:
                self.indexes.rebuild(store)
        all_damages = [*damages, *([Damage("index", derived)] if derived else [])]
        remaining = (*salvage.lost, *lost)
        return RepairReport(tuple(all_damages), tuple(repaired), remaining, salvage.aside)

    def restore(self, path: Path, *, replace: bool) -> Backup:
        """Bring a backup back; errors as in `Corpus.restore`."""
        from rag_app.corpus.copies.backup import read_backup

        with self.stores.lock():
            self.stores.close()
            backup = read_backup(path, self.folder, replace_=replace)
            self.indexes.rebuild(self.stores.connection())
        return backup
