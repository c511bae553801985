"""ZIP containers of documents: which kind one holds, and what it unpacks to."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexing.errors import UnreadableFile
from indexing.loaders.magic import advice, signature

UNPACKED = 512 * 1024 * 1024  # bytes that all parts of a document may have together

ENCRYPTED = 1  # a bit of the flags of a part (PKWARE's APPNOTE, 4.4.4)

_PASSWORD = "EncryptedPackage".encode("utf-16-le")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document in a ZIP file.

    Attributes:
        noun: What people call it, with its article.
        suffix: Of its files.
        needs: A part without which it is none.
        folder: What the names of its own parts begin with.
        save_again: What to do with a damaged one.
    """

    noun: str
    suffix: str
    needs: str
    folder: str
    save_again: str

    @property
    def name(self) -> str:
        """The noun without its article."""
        return self.noun.partition(" ")[2]


_OFFICE = "[Content_Types].xml"
KINDS = {
    each.suffix: each
    for each in (
        Kind(
            "a Word document",
            ".docx",
            _OFFICE,
            "word/",
            "open it in a word processor and save it as .docx again",
        ),
        Kind(
            "a presentation",
            ".pptx",
            _OFFICE,
            "ppt/",
            "open it in its program and save it as .pptx again",
        ),
        Kind(
            "a spreadsheet",
            ".xlsx",
            _OFFICE,
            "xl/",
            "open it in its program and save it as .xlsx again",
        ),
        Kind(
            "an e-book",
            ".epub",
            "META-INF/container.xml",
            "META-INF/container.xml",
            "fetch it again, or convert it with calibre",
        ),
        Kind(
            "an OpenDocument text",
            ".odt",
            "content.xml",
            "content.xml",
            "open it in a word processor and save it as .odt again",
        ),
    )
}


def check(path: Path, suffix: str) -> Kind:
    """Look at the container before anything is unpacked; the kind of document that it must be.

    Raises:
        UnreadableFile: It is of another kind, protected, damaged, or unpacks to too much.
    """
    kind = KINDS[suffix]
    _refuse_no_zip(path, kind)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile:
        reason = f"is a damaged or cut short {kind.name}"
        raise UnreadableFile(path, reason, kind.save_again) from None
    if any(part.flag_bits & ENCRYPTED for part in parts):
        raise _sealed(path)
    _refuse_other_kind(path, kind, {part.filename for part in parts})
    if (size := sum(part.file_size for part in parts)) > UNPACKED:
        reason = f"unpacks to {size >> 20} MiB, over the limit of {UNPACKED >> 20} MiB"
        raise UnreadableFile(path, reason, "save its text as .txt, or split it")
    return kind


def _refuse_no_zip(path: Path, kind: Kind) -> None:
    with path.open("rb") as file:
        match = signature(file.read(4096))
    if match is not None and match.kind.startswith("an old"):
        if _PASSWORD in path.read_bytes():
            raise _sealed(path)
        raise UnreadableFile(path, f"is {match.kind}, not {kind.suffix}", advice(match))
    if match is None or match.kind != "a ZIP archive":
        actual = f"is {match.kind}" if match else "is text or something else"
        remedy = advice(match) if match else "give it the ending of what it is, such as .html"
        raise UnreadableFile(path, f"{actual}, not {kind.noun}", remedy)


def _sealed(path: Path) -> UnreadableFile:
    return UnreadableFile(path, "is protected by a password", "save a copy without the password")


def _refuse_other_kind(path: Path, kind: Kind, parts: Collection[str]) -> None:
    kinds = [
        each
        for each in KINDS.values()
        if each.needs in parts and any(name.startswith(each.folder) for name in parts)
    ]
    if kind not in kinds and kinds:
        remedy = f"rename it to end in {kinds[0].suffix}"
        raise UnreadableFile(path, f"is {kinds[0].noun}, not {kind.noun}", remedy)
    if kind.needs not in parts:
        remedy = "unpack it and index what is in it"
        raise UnreadableFile(path, f"is a ZIP archive, not {kind.noun}", remedy)


@contextmanager
def opened(path: Path, kind: Kind) -> Iterator[zipfile.ZipFile]:
    """The archive, for reading.

    Raises:
        UnreadableFile: A part of it is missing or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, SyntaxError, EOFError, KeyError):
        raise UnreadableFile(path, f"is a damaged {kind.name}", kind.save_again) from None
