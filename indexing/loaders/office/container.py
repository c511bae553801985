"""ZIP containers of documents: which kind one holds, and what it unpacks to."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.magic import advice, signature
from indexing.message import N_, Message

UNPACKED = 512 * 1024 * 1024  # bytes that all parts of a document may have together

ENCRYPTED = 1  # a bit of the flags of a part (PKWARE's APPNOTE, 4.4.4)

_PASSWORD = "EncryptedPackage".encode("utf-16-le")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document in a ZIP file."""

    noun: str  # what people call it, with its article
    suffix: str  # of its files
    needs: str  # a part without which it is none
    folder: str  # what the names of its own parts begin with
    save_again: str  # what to do with a damaged one

    @property
    def name(self) -> str:
        """The noun without its article."""
        return Message(self.noun.partition(" ")[2])


_OFFICE = "[Content_Types].xml"
KINDS = {
    each.suffix: each
    for each in (
        Kind(
            N_("a Word document"),
            ".docx",
            _OFFICE,
            "word/",
            N_("open it in a word processor and save it as %(suffix)s again", suffix=".docx"),
        ),
        Kind(
            N_("a presentation"),
            ".pptx",
            _OFFICE,
            "ppt/",
            N_("open it in its program and save it as %(suffix)s again", suffix=".pptx"),
        ),
        Kind(
            N_("a spreadsheet"),
            ".xlsx",
            _OFFICE,
            "xl/",
            N_("open it in its program and save it as %(suffix)s again", suffix=".xlsx"),
        ),
        Kind(
            N_("an e-book"),
            ".epub",
            "META-INF/container.xml",
            "META-INF/container.xml",
            N_("fetch it again, or convert it with calibre"),
        ),
        Kind(
            N_("an OpenDocument text"),
            ".odt",
            "content.xml",
            "content.xml",
            N_("open it in a word processor and save it as %(suffix)s again", suffix=".odt"),
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
        reason = N_("is a damaged or cut short %(format)s", format=kind.name)
        raise UnreadableFile(path, reason, kind.save_again) from None
    if any(part.flag_bits & ENCRYPTED for part in parts):
        raise _sealed(path)
    _refuse_other_kind(path, kind, {part.filename for part in parts})
    if (size := sum(part.file_size for part in parts)) > UNPACKED:
        reason = N_(
            "unpacks to %(size)s MiB, over the limit of %(limit)s MiB",
            size=size >> 20,
            limit=UNPACKED >> 20,
        )
        raise UnreadableFile(path, reason, N_("save its text as .txt, or split it"))
    return kind


def _refuse_no_zip(path: Path, kind: Kind) -> None:
    with path.open("rb") as file:
        match = signature(file.read(4096))
    if match is not None and match.kind.startswith("an old"):
        if _PASSWORD in path.read_bytes():
            raise _sealed(path)
        raise UnreadableFile(
            path,
            N_("is %(found)s, not %(wanted)s", found=match.kind, wanted=kind.suffix),
            advice(match),
        )
    if match is None or match.kind != "a ZIP archive":
        found = match.kind if match else N_("text or something else")
        other = N_("give it the ending of what it is, such as %(suffix)s", suffix=".html")
        reason = N_("is %(found)s, not %(wanted)s", found=found, wanted=kind.noun)
        raise UnreadableFile(path, reason, advice(match) if match else other)


def _sealed(path: Path) -> UnreadableFile:
    return UnreadableFile(
        path, N_("is protected by a password"), N_("save a copy without the password")
    )


def _refuse_other_kind(path: Path, kind: Kind, parts: Collection[str]) -> None:
    kinds = [
        each
        for each in KINDS.values()
        if each.needs in parts and any(name.startswith(each.folder) for name in parts)
    ]
    if kind not in kinds and kinds:
        remedy = N_("rename it to end in %(suffix)s", suffix=kinds[0].suffix)
        raise UnreadableFile(
            path, N_("is %(found)s, not %(wanted)s", found=kinds[0].noun, wanted=kind.noun), remedy
        )
    if kind.needs not in parts:
        remedy = N_("unpack it and index what is in it")
        raise UnreadableFile(path, N_("is a ZIP archive, not %(wanted)s", wanted=kind.noun), remedy)


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
        raise UnreadableFile(
            path, N_("is a damaged %(format)s", format=kind.name), kind.save_again
        ) from None


def outside_of_body(path: Path, counts: Mapping[str, int]) -> Iterator[PartUnread]:
    """What was counted in a document beside its text, if anything was."""
    if listed := ", ".join(f"{what}: {count}" for what, count in counts.items() if count):
        remedy = N_("save it as PDF and index that, where they matter")
        reason = N_("has things outside of its body (%(which)s)", which=listed)
        yield PartUnread(path, reason, remedy)
