"""One format a file, and the table that says which file ending each one reads.

To add a format: write `name.py` beside these with a function from a path to extracts, and put
one line a suffix into `LOADERS`. The tests iterate the table and ask for a sample of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders import (
    delimited,
    docx,
    eaf,
    eml,
    epub,
    html,
    json_transcript,
    markdown,
    msg,
    nxt,
    odt,
    pdf,
    pptx,
    qmsum,
    rtf,
    srt,
    text,
    vtt,
    xlsx,
)


@dataclass(frozen=True, slots=True)
class Loader:
    """How files of one format are read.

    Attributes:
        format: The format's name, as `Document.format` has it.
        load: From a file to the documents in it. It raises UnreadableFile when nothing in the file
            can be used, yields one in the place of each part that cannot, and a PartUnread after
            the text for what it leaves out.
    """

    format: str
    load: Callable[[Path], Iterator[Extract | UnreadableFile]]


LOADERS: dict[str, Loader] = {
    ".txt": Loader("text", text.load),
    ".md": Loader("markdown", markdown.load),
    ".markdown": Loader("markdown", markdown.load),
    ".pdf": Loader("pdf", pdf.load),
    ".docx": Loader("docx", docx.load),
    ".odt": Loader("odt", odt.load),
    ".rtf": Loader("rtf", rtf.load),
    ".epub": Loader("epub", epub.load),
    ".pptx": Loader("pptx", pptx.load),
    ".xlsx": Loader("xlsx", xlsx.load),
    ".csv": Loader("csv", delimited.load),
    ".tsv": Loader("csv", delimited.load),
    ".eml": Loader("mail", eml.load),
    ".msg": Loader("mail", msg.load),
    ".html": Loader("html", html.load),
    ".htm": Loader("html", html.load),
    ".vtt": Loader("vtt", vtt.load),
    ".srt": Loader("srt", srt.load),
    ".json": Loader("json", json_transcript.load),
    ".jsonl": Loader("qmsum", qmsum.load_meetings),
    ".eaf": Loader("eaf", eaf.load),
    ".xml": Loader("nxt", nxt.load),
}

__all__ = ["LOADERS", "Loader"]
