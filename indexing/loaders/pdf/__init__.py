"""In: a PDF. Out: the text of each page in reading order, its pages kept.

What has no text is read by OCR, where that is installed (`scans.py`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Extract, Figure, Page
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.charset import clean
from indexing.loaders.figures import Gallery
from indexing.loaders.magic import advice, signature
from indexing.loaders.pdf.scans import read_scans
from indexing.loaders.pdf.text import page_lines
from indexing.loaders.pdf.title import title_of
from indexing.message import N_
from indexing.text.running_heads import PageLines, running_heads

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader
    from pypdfium2 import PdfDocument

TAIL = 4096  # bytes at the end in which the end mark must be found
_WITHIN_SENTENCE = re.compile(r"[^\W_][,;]?-?\n[a-zß-öø-ÿ]")  # from one page to the next
FETCH_AGAIN = N_("fetch it again, or open it in a viewer and save it under another name")

_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-\n([^\W\d_]+)")


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text of all pages, one below the other; the title from the metadata.

    Pages that are pictures are read by OCR, where it is installed. Then what is not in the text:
    pages that could not be read, files attached, fields filled in.

    Raises:
        UnreadableFile: It is no PDF, cut short, protected by a password, or only pictures.
    """
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError

    _refuse_damaged(path)
    with _quiet("pypdf"):
        try:
            with PdfReader(path) as reader:
                _unlock(path, reader)
                gallery = Gallery()
                pages = _page_lines(path, reader, gallery)
                if not pages:
                    raise UnreadableFile(path, N_("is a PDF without pages"), FETCH_AGAIN)
                scans = read_scans(path, reader.pages, pages)
                pages = [scans.pages.get(at, page) for at, page in enumerate(pages)]
                if not any(page.lines for page in pages):
                    raise scans.nothing_read(path)
                title = title_of(reader, pages[0].largest, path.stem)
                extract = extract_of_pages(pages, scans.confidence, title)
                yield replace(extract, figures=_placed(extract, pages, gallery))
                yield from scans.unread(path)
                yield from _unread(path, reader)
        except PdfReadError as error:
            raise UnreadableFile(
                path, N_("is a damaged PDF (%(error)s)", error=error), FETCH_AGAIN
            ) from None


def _page_lines(path: Path, reader: PdfReader, gallery: Gallery) -> list[PageLines]:
    """The lines of each page: by pdfium, in reading order; by pypdf where pdfium gives up."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return [_by_pypdf(page) for page in reader.pages]
    try:
        if len(document) != len(reader.pages):  # a damaged file, which the two mend differently
            return [_by_pypdf(page) for page in reader.pages]
        return [_by_pdfium(document, at, reader, gallery) for at in range(len(document))]
    finally:
        document.close()


def _by_pdfium(document: PdfDocument, at: int, reader: PdfReader, gallery: Gallery) -> PageLines:
    import pypdfium2

    try:
        page = document[at]
    except pypdfium2.PdfiumError:
        return _by_pypdf(reader.pages[at])
    try:
        return page_lines(page, at + 1, gallery)
    finally:
        page.close()


def _by_pypdf(page: PageObject) -> PageLines:
    lines = (" ".join(line.split()) for line in clean(page.extract_text()).split("\n"))
    return PageLines(tuple(filter(None, lines)))


def _refuse_damaged(path: Path) -> None:
    """Look at the first and last bytes: is it a PDF, and is all of it there?"""
    with path.open("rb") as file:
        head = file.read(TAIL)
        file.seek(max(0, path.stat().st_size - TAIL))
        tail = file.read()
    if b"%PDF-" not in head[:1024]:
        match = signature(head)
        reason = (
            N_("is %(found)s, not %(wanted)s", found=match.kind, wanted=N_("a PDF"))
            if match
            else N_("does not begin as a PDF does")
        )
        remedy = advice(match) if match else N_("give it the ending of what it is")
        raise UnreadableFile(path, reason, remedy)
    if b"%%EOF" not in tail:
        raise UnreadableFile(path, N_("is cut short: the end of the PDF is missing"), FETCH_AGAIN)


def _unlock(path: Path, reader: PdfReader) -> None:
    """Open a PDF that is encrypted without a password; refuse one that needs it."""
    from pypdf import PasswordType
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        opened = reader.decrypt("") != PasswordType.NOT_DECRYPTED
    except DependencyError:
        remedy = N_('run: pip install "pypdf[crypto]"')
        raise UnreadableFile(path, N_("is encrypted with AES"), remedy) from None
    if not opened:
        remedy = N_(
            "save a copy without the password (qpdf --decrypt --password=... in.pdf out.pdf)"
        )
        raise UnreadableFile(path, N_("is protected by a password"), remedy)


def extract_of_pages(
    pages: Sequence[PageLines], confidence: dict[int, float], title: str
) -> Extract:
    """Pages put together with a newline between.

    Passages prefer to begin at pages, but for those that begin in the middle of a sentence.
    """
    heads = running_heads(pages)
    texts = [page.text_without(out) for page, out in zip(pages, heads, strict=True)]
    known = {word for text in texts for word in re.findall(r"[^\W\d_]+", text)}
    placed: list[Page] = []
    whole: list[str] = []
    at = 0
    for number, page in enumerate(texts, 1):
        words = _unhyphenated(page, known)
        if words and at:
            whole.append("\n")
            at += 1
        placed.append(Page(at, at + len(words), number, confidence=confidence.get(number - 1)))
        whole.append(words)
        at += len(words)
    text = "".join(whole)
    starts = dict.fromkeys(page.start for page in placed if page.end > page.start)
    breaks = tuple(at for at in starts if not _WITHIN_SENTENCE.search(text, max(0, at - 3), at + 1))
    return Extract(text, title=title, pages=tuple(placed), breaks=breaks)


def _placed(extract: Extract, pages: Sequence[PageLines], gallery: Gallery) -> tuple[Figure, ...]:
    """Figures with their offsets in place of the indexes of lines."""
    figures = []
    for one in gallery.figures():
        page = extract.pages[(one.page or 1) - 1]
        lines = pages[page.number - 1].lines
        line = lines[one.start] if one.start < len(lines) else ""
        at = extract.text.find(line, page.start, page.end)
        figures.append(replace(one, start=max(at, page.start)))
    return tuple(sorted(figures, key=lambda one: one.start))


def _unread(path: Path, reader: PdfReader) -> Iterator[PartUnread]:
    """What a viewer shows beside the pages."""
    from pypdf.generic import TextStringObject

    if attached := sum(1 for _ in reader.attachment_list):
        remedy = N_("save them from a viewer and index them")
        yield PartUnread(path, N_("has files attached to it (%(which)s)", which=attached), remedy)
    fields = (reader.get_fields() or {}).values()
    written = [each.value for each in fields if isinstance(each.value, TextStringObject)]
    if filled := sum(bool(value.strip()) for value in written):
        remedy = N_("print it into a new PDF and index that")
        yield PartUnread(
            path, N_("is a form with fields filled in (%(fields)s)", fields=filled), remedy
        )


def _unhyphenated(text: str, known: set[str]) -> str:
    """Words broken at the end of a line put together, where the document has the whole word."""

    def joined(match: re.Match[str]) -> str:
        word = match[1] + match[2]
        return word + "\n" if word in known else match[0]

    return _HYPHENATED.sub(joined, re.sub("\u00ad\n?", "", text))


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """No log lines of a library, which reports what it mends in damaged files one by one."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
