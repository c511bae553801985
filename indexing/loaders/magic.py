"""The kind of a file by its first bytes, to refuse one that carries another kind's name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from indexing.errors import UnreadableFile
from indexing.message import N_


@dataclass(frozen=True, slots=True)
class Signature:
    """First bytes that give a kind away; `suffix` is ours for it, or "" when we cannot read it."""

    magic: bytes
    kind: str
    suffix: str = ""


SIGNATURES = (
    Signature(b"%PDF-", N_("a PDF document"), ".pdf"),
    Signature(b"PK\x03\x04", N_("a ZIP archive"), ".docx"),
    Signature(b"PK\x05\x06", N_("an empty ZIP archive")),
    Signature(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", N_("an old Microsoft Office document")),
    Signature(b"{\\rtf", N_("a Rich Text document"), ".rtf"),
    Signature(b"\x89PNG\r\n\x1a\n", N_("a PNG picture"), ".png"),
    Signature(b"\xff\xd8\xff", N_("a JPEG picture"), ".jpg"),
    Signature(b"GIF8", N_("a GIF picture")),
    Signature(b"II*\0", N_("a TIFF picture"), ".tif"),
    Signature(b"MM\0*", N_("a TIFF picture"), ".tif"),
    Signature(b"RIFF", N_("a sound, film or WebP file")),
    Signature(b"ID3", N_("an MP3 recording")),
    Signature(b"OggS", N_("an Ogg recording")),
    Signature(b"\x1aE\xdf\xa3", N_("a Matroska or WebM film")),
    Signature(b"\x1f\x8b", N_("a gzip archive")),
    Signature(b"BZh9", N_("a bzip2 archive")),
    Signature(b"7z\xbc\xaf\x27\x1c", N_("a 7-Zip archive")),
    Signature(b"\x7fELF", N_("a program")),
    Signature(b"SQLite format 3\0", N_("an SQLite database")),
)
WORDS = (b"RIFF", b"GIF8", b"ID3", b"OggS")  # letters that a text, too, may begin with


def signature(data: bytes) -> Signature | None:
    """Which kind of file the first bytes announce, or None."""
    for known in SIGNATURES:
        if data.startswith(known.magic):
            plain = known.magic in WORDS and b"\0" not in data[:4096]
            return None if plain else known
    return None


def refuse_other_kind(path: Path, data: bytes, expected: str) -> None:
    """Raise UnreadableFile when the bytes are of another known kind than `expected`."""
    match = signature(data)
    if match is not None:
        raise UnreadableFile(
            path,
            N_("is %(found)s, not %(wanted)s", found=match.kind, wanted=expected),
            advice(match),
        )


def advice(match: Signature) -> str:
    """What to do with a file of that kind."""
    if match.kind == "a ZIP archive":
        return N_(
            "unpack it; if it is a Word document, a presentation, a spreadsheet or an e-book, "
            "rename it to end in .docx, .pptx, .xlsx or .epub"
        )
    if match.suffix:
        return N_("rename it to end in %(suffix)s", suffix=match.suffix)
    if match.kind == "an old Microsoft Office document":
        return N_(
            "open it in its program and save it as .docx, .pptx or .xlsx, or rename it to .msg"
        )
    return N_("remove it, or convert it to text first")
