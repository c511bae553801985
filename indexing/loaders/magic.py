"""The kind of a file by its first bytes, to refuse one that carries another kind's name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from indexing.errors import UnreadableFile


@dataclass(frozen=True, slots=True)
class Signature:
    """First bytes that give a kind away; `suffix` is ours for it, or "" when we cannot read it."""

    magic: bytes
    kind: str
    suffix: str = ""


SIGNATURES = (
    Signature(b"%PDF-", "a PDF document", ".pdf"),
    Signature(b"PK\x03\x04", "a ZIP archive", ".docx"),
    Signature(b"PK\x05\x06", "an empty ZIP archive"),
    Signature(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office document"),
    Signature(b"{\\rtf", "a Rich Text document", ".rtf"),
    Signature(b"\x89PNG\r\n\x1a\n", "a PNG picture", ".png"),
    Signature(b"\xff\xd8\xff", "a JPEG picture", ".jpg"),
    Signature(b"GIF8", "a GIF picture"),
    Signature(b"II*\0", "a TIFF picture", ".tif"),
    Signature(b"MM\0*", "a TIFF picture", ".tif"),
    Signature(b"RIFF", "a sound, film or WebP file"),
    Signature(b"ID3", "an MP3 recording"),
    Signature(b"OggS", "an Ogg recording"),
    Signature(b"\x1aE\xdf\xa3", "a Matroska or WebM film"),
    Signature(b"\x1f\x8b", "a gzip archive"),
    Signature(b"BZh9", "a bzip2 archive"),
    Signature(b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    Signature(b"\x7fELF", "a program"),
    Signature(b"SQLite format 3\0", "an SQLite database"),
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
        raise UnreadableFile(path, f"is {match.kind}, not {expected}", advice(match))


def advice(match: Signature) -> str:
    """What to do with a file of that kind."""
    if match.kind == "a ZIP archive":
        kinds = "a Word document, a presentation, a spreadsheet or an e-book"
        return f"unpack it; if it is {kinds}, rename it to end in .docx, .pptx, .xlsx or .epub"
    if match.suffix:
        return f"rename it to end in {match.suffix}"
    if match.kind == "an old Microsoft Office document":
        return "open it in its program and save it as .docx, .pptx or .xlsx, or rename it to .msg"
    return "remove it, or convert it to text first"
