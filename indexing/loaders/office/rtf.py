"""Rich Text, read by striprtf, which knows the encodings of its fonts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.charset import printable
from indexing.loaders.draft import Draft
from indexing.loaders.magic import advice, signature
from indexing.message import N_
from indexing.ocr import AS_PDF

HEAD = 1 << 20  # bytes in which the title must stand

_TITLE = re.compile(r"\{\\info\b.{0,4000}?\{\\title\b(?P<words>[^{}]{0,2000})\}", re.DOTALL)
_PICTURE = re.compile(r"\{\\(?:\*\\shppict|pict)\b")


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The paragraphs, a blank line between them; cells of a table with " | " between.

    Raises:
        UnreadableFile: It is no Rich Text, or has no words.
    """
    from striprtf.striprtf import rtf_to_text

    data = path.read_bytes()
    if not data.startswith(b"{\\rtf"):
        match = signature(data)
        found = N_("is %(found)s", found=match.kind) if match else None
        actual = found or N_("does not begin as Rich Text does")
        other = N_("give it the ending of what it is, such as %(suffix)s", suffix=".txt")
        remedy = advice(match) if match else other
        raise UnreadableFile(path, N_("%(found)s, so it is not Rich Text", found=actual), remedy)
    markup = data.decode("cp1252", "replace")
    draft = Draft()
    tight = False
    for line in _paired(rtf_to_text(markup, errors="replace")).split("\n"):
        words = line.strip()
        if not words.strip("| "):
            tight = False
            continue
        row = words.endswith("|")
        draft.separate("\n" if row and tight else "\n\n")
        cells = [" ".join(cell.split()) for cell in words.rstrip("|").split("|")]
        draft.write(" | ".join(cells) if row else " ".join(words.split()))
        tight = row
    title = _title(markup)
    pictures = len(_PICTURE.findall(markup))
    if not draft.length and pictures:
        raise UnreadableFile(path, N_("holds pictures but no text"), AS_PDF)
    yield draft.extract(title or printable(path.stem))
    if notes := markup.count("{\\footnote"):
        remedy = N_("save it as PDF and index that, where they matter")
        yield PartUnread(path, N_("has footnotes (%(number)s)", number=notes), remedy)


def _title(markup: str) -> str:
    """The title among the properties; "" for none."""
    from striprtf.striprtf import rtf_to_text

    named = _TITLE.search(markup[:HEAD])
    if named is None:
        return ""
    title = rtf_to_text(f"{{\\rtf1{named['words']}}}", errors="replace")
    return " ".join(_paired(title).split())


def _paired(text: str) -> str:
    """Characters beyond the first 65,536, which Rich Text writes as two, put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
