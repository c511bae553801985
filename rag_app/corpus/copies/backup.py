"""Backup and restore: a corpus as it is at one moment, in one file, while it is used.

The database is copied by SQLite's online backup, which no writer disturbs. Conversations and
uploaded files, which a server keeps beside it, go with it; indexes do not, as they are built again.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from indexing.errors import CorpusDamaged, CorpusError, InvalidRequest
from indexing.store.database import Database, exists, make_folder, swap
from indexing.store.store import FILE_NAME, Store
from indexing.walk import ALIAS_FILE
from rag_app.corpus.copies.archive import BLOCK, Archive, reading, safe_name, writing
from rag_app.output_file import PRIVATE, writable

FORMAT = 1
CHATS = ".chats"
BESIDE = (CHATS, "uploads")  # folders of a served corpus
PRIVATE_FOLDER = 0o700  # mode of what holds conversations
UNFINISHED = frozenset(
    {".part", ".new", ".lock"}
)  # of uploads on their way, worth nothing elsewhere


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds.

    Attributes:
        path: Its file.
        created: When it was made, in ISO 8601.
        documents: How many.
        files: Conversations and uploaded files beside the database.
        bytes: What the file takes on disk.
    """

    path: str
    created: str
    documents: int
    files: int
    bytes: int


def write_backup(store: Store, path: Path, *, version: str) -> Backup:
    """Write everything a corpus holds to one file, in place of an archive of ours.

    Raises:
        CorpusError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.sqlite")
    facts: dict[str, object] = {"folder": store.folder.as_posix()}
    try:
        with writing(path, kind="backup", format_=FORMAT, version=version, facts=facts) as archive:
            store.database.copy(draft)
            with closing(Database(draft)) as copy:
                ((count,),) = copy.rows("SELECT count(*) FROM documents")
                facts["documents"] = count
            archive.add(FILE_NAME, _blocks(draft))
            for name in _beside(store.folder):
                archive.add(name, _blocks(store.folder / name))
    finally:
        for suffix in ("", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
    with reading(path, kind="backup", format_=FORMAT) as whole:
        return _about(whole)


def read_backup(path: Path, folder: Path, *, replace_: bool) -> Backup:
    """Bring a backup back into a folder, whose write lock the caller holds.

    Conversations and uploads that are there and not in the backup stay.

    Args:
        path: A file that `write_backup` wrote.
        folder: Where the corpus shall lie.
        replace_: Whether a corpus that lies there is to be replaced; those who have it open see
            the restored one.

    Raises:
        InvalidRequest: There is a corpus, and it is not to be replaced.
        UnreadableFile: The backup is damaged, or none.
        CorpusError: The folder cannot be written to.
    """
    target = folder / FILE_NAME
    if exists(target) and not replace_:
        raise InvalidRequest(
            f"{folder}: holds a corpus; give another folder with --corpus, or --replace to put "
            "the backup in its place"
        )
    make_folder(folder)
    draft = folder / f".restore-{secrets.token_hex(4)}"
    try:
        with writable(folder, "make room there", kind=CorpusError):
            draft.mkdir(mode=PRIVATE_FOLDER)
            with reading(path, kind="backup", format_=FORMAT) as archive:
                names = [*archive.manifest.files]
                if FILE_NAME not in names or not all(
                    safe_name(one, folders=BESIDE) for one in names
                ):
                    raise archive.unreadable("is damaged: it holds what a backup does not")
                for name in names:
                    archive.extract(name, draft / name)
                about, former = _about(archive), str(archive.manifest.facts.get("folder", ""))
            _prepare(draft, folder, former)
            _install(draft / FILE_NAME, target)
            for name in names:
                if name != FILE_NAME:
                    _install_beside(draft, folder, name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return about


def _prepare(draft: Path, folder: Path, former: str) -> None:
    """Look whether it opens, bring it up to date, and let uploads be where they will be."""
    with closing(Store(draft)) as store:
        for collection in store.collections.all():
            for one in store.of(collection.name).identities():
                if former and one.path.startswith(f"{former}/"):
                    path = f"{folder.as_posix()}/{one.path.removeprefix(f'{former}/')}"
                    if path != one.path:
                        store.move(replace(one, path=path), collection=collection.name)
        store.renew()


def _install(draft: Path, target: Path) -> None:
    """Give a closed database its place: over a sound one in one transaction that readers see."""
    if not exists(target):
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        draft.replace(target)
        return
    try:
        Store(target.parent).close()
    except CorpusDamaged:
        swap(draft, target)
    else:
        with closing(Database(draft)) as database:
            database.copy(target)


def _install_beside(draft: Path, folder: Path, name: str) -> None:
    """Give a file beside the database its place; conversations are their owner's only."""
    target = folder / name
    if Path(name).parts[0] == CHATS:
        (draft / name).chmod(PRIVATE)
        for each in (folder / CHATS, target.parent):
            each.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    (draft / name).replace(target)


def _about(archive: Archive) -> Backup:
    manifest = archive.manifest
    return Backup(
        path=str(archive.path),
        created=manifest.created,
        documents=int(manifest.facts.get("documents", 0)),
        files=len(manifest.files) - 1,
        bytes=archive.path.stat().st_size,
    )


def _beside(folder: Path) -> Iterator[str]:
    """Names of conversations, uploads and aliases; half-written ones have a hidden name."""
    if (folder / ALIAS_FILE).is_file():
        yield ALIAS_FILE
    for each in BESIDE:
        for file in sorted((folder / each).rglob("*")):
            name = file.relative_to(folder).as_posix()
            hidden = file.name.startswith(".") or file.is_symlink()
            hidden = hidden or file.suffix in UNFINISHED
            if file.is_file() and not hidden and safe_name(name, folders=BESIDE):
                yield name


def _blocks(file: Path) -> Iterator[bytes]:
    """The bytes of a file; none where it was deleted meanwhile."""
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        return
    with stream:
        while block := stream.read(BLOCK):
            yield block
