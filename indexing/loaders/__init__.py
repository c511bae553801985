"""One format a file, and the table that says which file ending each one reads.

To add a format: write `name.py` beside these with a function from a path to extracts, and put
one line a suffix into `LOADERS`. The tests iterate the table and ask for a sample of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile


@dataclass(frozen=True, slots=True)
class Loader:
    """How files of one format are read."""

    format: str  # the format's name, as `Document.format` has it
    module: str  # the file beside this one that reads it, imported when there is something to read
    function: str = "load"  # its name there

    def load(self, path: Path) -> Iterator[Extract | UnreadableFile]:
        """From a file to the documents in it.

        Yields an UnreadableFile in the place of each part that cannot be used, and a PartUnread
        after the text for what is left out.

        Raises:
            UnreadableFile: Nothing in the file can be used.
        """
        module = import_module(f"{__name__}.{self.module}")
        extracts: Iterator[Extract | UnreadableFile] = getattr(module, self.function)(path)
        return extracts


LOADERS: dict[str, Loader] = {
    ".txt": Loader("text", "text"),
    ".md": Loader("markdown", "markdown"),
    ".markdown": Loader("markdown", "markdown"),
    ".pdf": Loader("pdf", "pdf"),
    ".docx": Loader("docx", "office.docx"),
    ".odt": Loader("odt", "office.odt"),
    ".rtf": Loader("rtf", "office.rtf"),
    ".epub": Loader("epub", "epub"),
    ".pptx": Loader("pptx", "office.pptx"),
    ".xlsx": Loader("xlsx", "office.xlsx"),
    ".csv": Loader("csv", "office.delimited"),
    ".tsv": Loader("csv", "office.delimited"),
    ".eml": Loader("mail", "mails.eml"),
    ".msg": Loader("mail", "mails.msg"),
    ".html": Loader("html", "html"),
    ".htm": Loader("html", "html"),
    ".vtt": Loader("vtt", "transcripts.vtt"),
    ".srt": Loader("srt", "transcripts.srt"),
    ".json": Loader("json", "transcripts.json_transcript"),
    ".jsonl": Loader("qmsum", "transcripts.qmsum", "load_meetings"),
    ".eaf": Loader("eaf", "transcripts.eaf"),
    ".xml": Loader("nxt", "transcripts.nxt"),
    ".png": Loader("picture", "pictures"),
    ".jpg": Loader("picture", "pictures"),
    ".jpeg": Loader("picture", "pictures"),
    ".tif": Loader("picture", "pictures"),
    ".tiff": Loader("picture", "pictures"),
}

PICTURES = frozenset(suffix for suffix, loader in LOADERS.items() if loader.format == "picture")
"""Suffixes of what people mostly keep for other reasons than its words: in folders it is passed
over, unless OCR was switched on by name."""

__all__ = ["LOADERS", "PICTURES", "Loader"]
