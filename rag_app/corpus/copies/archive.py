"""Archives: zip files of ours, written whole or not at all, and read as hostile.

The last entry is `manifest.json`: what the archive is, and the length and SHA-256 of every other
entry. Nothing is taken that the manifest does not name, and nothing is written outside a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from indexing.errors import CorpusError, UnreadableFile
from rag_app.output_file import writable

MANIFEST = "manifest.json"
MAX_MANIFEST = 64 << 20  # bytes
MAX_RATIO = 100  # bytes out of one byte of archive; ours hold vectors, which hardly compress
FREE = 16 << 20  # bytes out of any archive
MODES = {"backup": 0o600}  # of archives that hold conversations: their owner's only
BLOCK = 1 << 20
DAMAGED = "make it again, or take another copy of it"
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself."""

    kind: str  # "backup" or "export"
    format: int  # of the entries; a higher number is of a later version
    version: str  # of the program that wrote it
    created: str  # when, in ISO 8601
    facts: dict[str, Any]  # what the kind keeps besides, such as the number of documents
    files: dict[str, tuple[int, str]]  # length and SHA-256 of each entry, by name


@dataclass(slots=True)
class ArchiveWriter:
    """Takes the entries of an archive in the making."""

    _zip: zipfile.ZipFile
    files: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, name: str, blocks: Iterable[bytes]) -> None:
        """Write an entry block by block."""
        entry = zipfile.ZipInfo(name, _DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        digest, length = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as stream:
            for block in blocks:
                stream.write(block)
                digest.update(block)
                length += len(block)
        self.files[name] = (length, digest.hexdigest())


@contextmanager
def writing(
    path: Path, *, kind: str, format_: int, version: str, facts: dict[str, Any]
) -> Iterator[ArchiveWriter]:
    """An archive that gets its name when it is whole.

    Args:
        path: Replaced if it is an archive of ours already.
        kind: "backup" or "export".
        format_: Of the entries.
        version: Of this program.
        facts: For the manifest; may be filled until the end.

    Raises:
        CorpusError: There is another file by that name, or it cannot be written.
    """
    if path.exists() and not _is_ours(path):
        raise CorpusError(f"{path}: is there, and no archive of rag-app; give another name")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with writable(path, "make room there, or give another name", kind=CorpusError):
            draft.touch(mode=MODES.get(kind, 0o666), exist_ok=False)
            with zipfile.ZipFile(draft, "w", compresslevel=1) as archive:
                writer = ArchiveWriter(archive)
                yield writer
                created = datetime.now(UTC).isoformat(timespec="seconds")
                manifest = {"kind": f"rag-app {kind}", "format": format_, "version": version}
                manifest |= {"created": created, **facts, "files": writer.files}
                archive.writestr(zipfile.ZipInfo(MANIFEST, _DATE), json.dumps(manifest, indent=1))
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose manifest fits its entries; what these hold is checked as it is read."""

    path: Path
    manifest: Manifest
    _zip: zipfile.ZipFile

    @contextmanager
    def entry(self, name: str) -> Iterator[IO[bytes]]:
        """The bytes of an entry, to be read to the end.

        Raises:
            UnreadableFile: There is no such entry, or it is damaged.
        """
        if name not in self.manifest.files:
            raise self.unreadable(f"has no {name}")
        with _reading(self.path), self._zip.open(name) as stream:
            yield stream

    def extract(self, name: str, target: Path) -> None:
        """Write an entry to a file, and compare it with the manifest.

        Raises:
            UnreadableFile: It is not as the manifest says.
            CorpusError: It cannot be written.
        """
        digest = hashlib.sha256()
        written = writable(target, "make room there", kind=CorpusError)
        with self.entry(name) as stream, written:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                while block := stream.read(BLOCK):
                    digest.update(block)
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
        if (target.stat().st_size, digest.hexdigest()) != self.manifest.files[name]:
            raise self.unreadable(f"is damaged: {name} is not as it was written")

    def unreadable(self, reason: str) -> UnreadableFile:
        """The error of an archive that is not as it should be."""
        return UnreadableFile(self.path, reason, DAMAGED)


@contextmanager
def reading(path: Path, *, kind: str, format_: int) -> Iterator[Archive]:
    """An archive of a kind.

    Raises:
        UnreadableFile: It is none, of another kind or a later version, damaged or a bomb.
    """
    with _reading(path):
        archive = zipfile.ZipFile(path)
    with archive:
        with _reading(path):
            manifest = _manifest(path, archive)
        if manifest.kind != kind:
            remedy = "give it to rag-app " + {"backup": "restore", "export": "import"}.get(
                manifest.kind, "of the version that wrote it"
            )
            raise UnreadableFile(path, f"is no {kind} of rag-app", remedy)
        if manifest.format > format_:
            reason = f"was written by a later version of rag-app ({manifest.version})"
            raise UnreadableFile(path, reason, "update with: pip install --upgrade rag-app")
        _check_entries(path, archive, manifest)
        yield Archive(path, manifest, archive)


def safe_name(name: str, *, folders: Iterable[str] = ()) -> bool:
    """Whether a name stays within a folder, as a file of it or of one of these folders below it."""
    parts = PurePosixPath(name).parts
    plain = "\\" not in name and ":" not in name and "\0" not in name and not name.startswith("/")
    inside = bool(parts) and ".." not in parts and PurePosixPath(*parts).as_posix() == name
    return plain and inside and (len(parts) == 1 or parts[0] in set(folders))


def _is_ours(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return _manifest(path, archive).kind in {"backup", "export"}
    except (OSError, zipfile.BadZipFile, UnreadableFile):
        return False


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST:
            raise ValueError("too large")
        values = json.loads(archive.read(MANIFEST))
        known = {"kind", "format", "version", "created", "files"}
        return Manifest(
            kind=str(values["kind"]).removeprefix("rag-app "),
            format=int(values["format"]),
            version=str(values["version"])[:40],
            created=str(values["created"])[:40],
            facts={name: value for name, value in values.items() if name not in known},
            files={str(name): (int(a), str(b)) for name, (a, b) in values["files"].items()},
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableFile(path, "is no archive of rag-app", "give one that it wrote") from error


def _check_entries(path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    sizes = {one.filename: one.file_size for one in archive.infolist()}
    files = {name: size for name, (size, _) in manifest.files.items()}
    sizes.pop(MANIFEST)
    if sizes != files or len(archive.infolist()) != len(files) + 1:
        raise UnreadableFile(path, "is damaged: its entries are not those it names", DAMAGED)
    if any(size < 0 for size in sizes.values()) or (
        sum(sizes.values()) > FREE + MAX_RATIO * path.stat().st_size
    ):
        reason = "would become far larger than an archive of rag-app can"
        raise UnreadableFile(path, reason, "do not trust whoever sent it")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """The ways in which a zip file can break, as ours."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnreadableFile(path, f"is damaged ({error})", DAMAGED) from error
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise UnreadableFile(path, reason, "check how its name is spelled") from error
