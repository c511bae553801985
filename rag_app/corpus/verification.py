"""Verification and repair of a corpus: its database, and the files derived from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from indexing.documents import Document
from indexing.encoder.lookahead import DocumentEncoder
from indexing.errors import CorpusDamaged
from indexing.store.collections import Membership
from indexing.store.database import swap
from indexing.store.repair.salvage import SoundRecord, lengthen, salvage, sound_record
from indexing.store.repair.verification import Damage, lists_documents
from indexing.store.store import FILE_NAME, Store
from indexing.text.chunking import split
from indexing.walk import Failure

Steps = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found.

    Attributes:
        documents: How many were verified.
        damages: What is not as it was written; empty for a sound corpus.
    """

    documents: int
    damages: tuple[Damage, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damages


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair did.

    Attributes:
        damages: What was not as it was written.
        repaired: Ids of documents that are sound again: encoded again from their stored text, or
            read again from their files.
        lost: Damaged documents that could not be read again.
        aside: Where the damaged database lies now, "" where its pages were sound and it stays.
    """

    damages: tuple[Damage, ...] = ()
    repaired: tuple[str, ...] = ()
    lost: tuple[Damage, ...] = ()
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Salvage:
    """A sound database in the place of a damaged one."""

    records: Sequence[SoundRecord] = ()  # documents to be encoded again
    # where the damaged database lies now, "" where its pages were sound and it stays
    aside: str = ""
    lost: tuple[Damage, ...] = ()  # what cannot be brought back, nor named by document


def open_damaged(folder: Path) -> Store:
    """The store in a folder without a check; one that was cut short is padded first.

    Raises:
        CorpusDamaged: Nothing in the file can be read.
    """
    try:
        return Store(folder, check=False)
    except CorpusDamaged:
        if not lengthen(folder / FILE_NAME):
            raise
        return Store(folder, check=False)


UNKNOWN = Damage("database", "which documents it held cannot be read, and some may be lost")


def salvage_database(
    store: Store, damages: Sequence[Damage], *, progress: Steps | None = None
) -> Salvage:
    """Bring the sound documents of a store, which is closed, into a sound database at its place."""
    if not any(one.what in {"database", "fingerprint"} for one in damages):
        rows = [one.row for one in damages if one.row is not None and "record" not in one.parts]
        records = [sound_record(store.database, row) for row in rows]
        if any(one.what == "collections" for one in damages):
            store.collections.repair()
        if any(one.what == "facts" for one in damages):
            store.repair_facts()
        store.close()
        return Salvage(records)
    draft = store.folder / f".{FILE_NAME}.salvage"
    draft.unlink(missing_ok=True)
    try:
        known = lists_documents(store.database)
        records = salvage(store.database, draft, progress=progress)
        store.close()
        return Salvage(records, str(swap(draft, store.path)), () if known else (UNKNOWN,))
    finally:
        store.close()
        draft.unlink(missing_ok=True)


@dataclass(slots=True)
class DocumentRepair:
    """Damaged documents into sound ones, one transaction each."""

    store: Store  # where they go; its write lock is held
    encoder: Callable[[], DocumentEncoder]  # gives what makes the vectors
    read: Callable[[Path], list[Document | Failure]]  # reads a file
    _repaired: list[str] = field(default_factory=list)

    def run(
        self, damages: Sequence[Damage], records: Sequence[SoundRecord], progress: Steps | None
    ) -> tuple[list[str], list[Damage]]:
        """Encode or read them again; ids of the repaired, and the damages that remain."""
        damaged = [one for one in damages if one.what == "document"]
        paths = {one.path for one in damaged if "record" in one.parts and one.path}
        total = len(records) + len(paths)
        for done, record in enumerate(records, 1):
            self._put(record.document, record.added, record.memberships)
            if progress:
                progress(done, total)
        lost = [one for one in damaged if "record" in one.parts and not one.path]
        for done, path in enumerate(sorted(paths), len(records) + 1):
            of_file = [one for one in damaged if "record" in one.parts and one.path == path]
            lost += self._read_again(Path(path), of_file)
            if progress:
                progress(done, total)
        return self._repaired, lost

    def _read_again(self, path: Path, damages: list[Damage]) -> list[Damage]:
        """Put what a file holds in the place of damaged documents; those that it does not hold."""
        if not path.is_absolute() or not path.exists():
            return damages
        gone = {one.document for one in damages}
        sound = {one.digest for one in self.store.identities() if one.id not in gone}
        documents = [one for one in self.read(path) if isinstance(one, Document)]
        missing = [one for one in documents if one.digest not in sound]
        single = len(missing) == len(gone) == 1
        for document in missing:
            id_ = gone.pop() if single else document.id
            self._put(replace(document, id=id_ or document.id), _now())
            gone.discard(id_)
        return [one for one in damages if one.document in gone]

    def _put(self, document: Document, added: str, memberships: Sequence[Membership] = ()) -> None:
        encoder = self.encoder()
        self.store.set_fingerprint(encoder.fingerprint)
        passages = split(document)
        (vectors,) = encoder.encode([(document, passages)])
        self.store.put(
            document, passages, vectors, added=added, collection=None, memberships=memberships
        )
        self._repaired.append(document.id)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
