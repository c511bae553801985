"""Word documents: paragraphs, headings and tables in the order of the page."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Extract, Figure
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.charset import clean
from indexing.loaders.draft import Draft
from indexing.loaders.figures import Gallery, is_caption
from indexing.loaders.office.container import KINDS, check, outside_of_body
from indexing.loaders.xml_file import Element, nearest
from indexing.loaders.xml_file import name_of as _name
from indexing.message import N_
from indexing.ocr import AS_PDF, INSTALL
from indexing.text.tables import with_header
from indexing.text.transcripts import find_utterances

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

SAVE_AGAIN = KINDS[".docx"].save_again

EMBEDDED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"

_HEADING = re.compile(r"(?:heading \d|title)$", re.IGNORECASE)
# Deleted or moved text, and the second copy of a text box for older programs.
_SKIPPED = frozenset({"del", "moveFrom", "Fallback", "pPr", "rPr", "sectPr", "tblPr"})
# Counted where they are referred to, because what they hold is not in the body.
_ELSEWHERE = {
    "footnoteReference": "footnotes",
    "endnoteReference": "endnotes",
    "commentReference": "comments",
    "OLEObject": "embedded objects",
}
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or a row of a table; `tight` ones stand in lines without blank ones between."""

    words: str
    heading: bool = False
    tight: bool = False
    pictures: tuple[tuple[str, str], ...] = ()  # relation and what the author says of each


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The body of the document, a blank line between paragraphs, " | " between cells.

    Then what is not in it: notes, comments, embedded objects, pictures as large as pages.

    Raises:
        UnreadableFile: It is no Word document, protected, damaged, or unpacks to too much.
    """
    check(path, ".docx")
    document = _opened(path)
    headings = {
        style.style_id for style in document.styles if _HEADING.match(str(style.name or ""))
    }
    blocks = list(_with_words(_blocks(document.element.body, headings)))
    if not blocks and _pictures(document.element.body):
        raise UnreadableFile(path, N_("holds pictures but no text"), AS_PDF)
    extract = _extract(blocks, _title(document, blocks) or clean(path.stem))
    yield replace(extract, figures=_figures(document, blocks, extract.text))
    yield from _unread(path, document)


def _opened(path: Path) -> WordDocument:
    """The document, by python-docx."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        return docx.Document(str(path))
    except (ValueError, KeyError, PackageNotFoundError):
        reason = N_("is an Office file, but not a Word document with a body")
        raise UnreadableFile(path, reason, SAVE_AGAIN) from None
    except (zipfile.BadZipFile, SyntaxError, EOFError):
        raise UnreadableFile(path, N_("is a damaged Word document"), SAVE_AGAIN) from None


def _blocks(element: Element, headings: set[str]) -> Iterator[_Block]:
    """Blocks of a body, a cell or a content control, in order.

    python-docx's own iteration leaves out content controls and tracked insertions, that is, words
    that the reader sees.
    """
    for child in element:
        name = _name(child)
        if name == "p":
            yield _paragraph(child, headings)
        elif name == "tbl":
            yield from _rows(child)
        elif name and name not in _SKIPPED:
            yield from _blocks(child, headings)


def _paragraph(element: Element, headings: set[str]) -> _Block:
    style = element.style or ""
    properties = element.pPr
    numbered = properties is not None and any(_name(child) == "numPr" for child in properties)
    words = "\n".join(" ".join(line.split()) for line in _words(element).split("\n")).strip()
    tight = numbered or style.startswith("List")
    return _Block(words, style in headings, tight, tuple(_shown(element)))


def _shown(element: Element) -> Iterator[tuple[str, str]]:
    """The pictures of a paragraph: the relation that leads to each, and its description."""
    for drawing in element.iter("{*}inline", "{*}anchor"):
        description = next((each.get("descr") or "" for each in drawing.iter("{*}docPr")), "")
        for blip in drawing.iter("{*}blip"):
            if relation := blip.get(EMBEDDED):
                yield relation, description


def _with_words(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """Blocks with words, each with the pictures before it that stand alone."""
    waiting: tuple[tuple[str, str], ...] = ()
    last: _Block | None = None
    for block in blocks:
        if not block.words:
            waiting += block.pictures
            continue
        if last is not None:
            yield last
        last, waiting = replace(block, pictures=waiting + block.pictures), ()
    if last is not None:
        yield replace(last, pictures=last.pictures + waiting)


def _figures(document: WordDocument, blocks: Sequence[_Block], text: str) -> tuple[Figure, ...]:
    """The pictures of the body, with the caption that is the block they stand at, or beside."""
    gallery, at = Gallery(), 0
    for number, block in enumerate(blocks):
        at = max(text.find(clean(block.words), at), at)
        for relation, description in block.pictures:
            near = [one.words for one in blocks[number : number + 2] if is_caption(one.words)]
            part = document.part.related_parts.get(relation)
            if part is not None:
                gallery.add(part.blob, start=at, caption=near[0] if near else description)
    return gallery.figures()


def _rows(table: Element) -> Iterator[_Block]:
    """Rows of a table as lines; merged cells, and tables within a cell, are there once."""
    rows = []
    for row in nearest(table, "tr"):
        pictures = tuple(_shown(row))
        cells = [" ".join(_words(cell).split()) for cell in nearest(row, "tc")]
        rows.append((cells, pictures))
    texts = with_header([cells for cells, _ in rows], marked=_marks_header(table))
    for words, (_, pictures) in zip(texts, rows, strict=True):
        yield _Block(words, tight=True, pictures=pictures)


def _marks_header(table: Element) -> bool:
    """Whether the first row is marked as one that is repeated on each page."""
    first = next(nearest(table, "tr"), None)
    return first is not None and next(first.iter("{*}tblHeader"), None) is not None


def _words(element: Element) -> str:
    """What an element says, tabs and line breaks included."""
    pieces: list[str] = []
    pending = [element]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        name = _name(node)
        if name == "t":
            pieces.append(node.text or "")
        elif name in _SPACES:
            pieces.append(_SPACES[name])
        elif name and name not in _SKIPPED:
            if name == "p" and pieces:
                pieces.append("\n")
            pending.extend(reversed(node))
    return "".join(pieces)


def _unread(path: Path, document: WordDocument) -> Iterator[PartUnread]:
    """What a reader sees in the document and the text does not hold."""
    body = document.element.body
    counts = {what: sum(1 for _ in body.iter(f"{{*}}{name}")) for name, what in _ELSEWHERE.items()}
    yield from outside_of_body(path, counts)
    section = document.sections[0] if document.sections else None
    page = (section.page_width or 0) * (section.page_height or 0) if section else 0
    if large := sum(size >= page / 2 for size in _pictures(body) if page):
        remedy = N_(
            "if they hold words, save them as PNG and index these by name (once: %(install)s)",
            install=INSTALL,
        )
        yield PartUnread(
            path, N_("has pictures of half a page or more (%(number)s)", number=large), remedy
        )


def _pictures(body: Element) -> list[int]:
    """The area of each picture in square English Metric Units (ECMA-376, 20.4.2.7 `extent`)."""
    return [
        int(extent.get("cx", 0)) * int(extent.get("cy", 0))
        for extent in body.iter("{*}extent")
        if next(extent.getparent().iter("{*}blip"), None) is not None
    ]


def _extract(blocks: list[_Block], title: str) -> Extract:
    draft, tight = Draft(), False
    for block in blocks:
        draft.separate("\n" if block.tight and tight else "\n\n")
        draft.write(block.words, heading=block.heading)
        tight = block.tight
    extract = draft.extract(title)
    return replace(extract, utterances=find_utterances(extract.text))


def _title(document: WordDocument, blocks: list[_Block]) -> str:
    """The title among the properties, else the first heading."""
    title = " ".join(clean(document.core_properties.title or "").split())
    if title and title != "Word Document":  # what python-docx writes when there is none
        return title
    return next((" ".join(block.words.split()) for block in blocks if block.heading), "")
