"""PDF: the text of each page by pypdf, its pages kept; what has no text is named."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Extract, Page
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.charset import clean
from indexing.loaders.magic import advice, signature

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader
    from pypdf.generic import DictionaryObject

TAIL = 4096  # bytes at the end in which the end mark must be found
SPANS = 12  # of page numbers, that are spelled out
STAMP = 30  # letters and digits: a page number, a stamp on a scan
SCAN = 500_000  # pixels: A4 at 72 dots an inch; logos have fewer
FETCH_AGAIN = "fetch it again, or open it in a viewer and save it under another name"
# ISO 32000-1, table 51: operators that paint a path, a shading or an object; then pypdf's own name.
PAINTING = frozenset(b"f F f* B B* b b* S s sh Do".split()) | {b"INLINE IMAGE"}

_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-\n([^\W\d_]+)")
_NO_TITLE = re.compile(r"untitled|(?:microsoft word - )?.*\.(?:docx?|tex|indd|pdf|rtf)|\W*", re.I)


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text of all pages, one below the other; the title from the metadata.

    Then what is not in that text: pages that are pictures, files attached, fields filled in.

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
                texts = [clean(page.extract_text()).strip("\n") for page in reader.pages]
                title = _title(reader) or clean(path.stem)
                yield _extract(path, texts, title)
                yield from _unread(path, reader, texts)
        except PdfReadError as error:
            raise UnreadableFile(path, f"is a damaged PDF ({error})", FETCH_AGAIN) from None


def _refuse_damaged(path: Path) -> None:
    """Look at the first and last bytes: is it a PDF, and is all of it there?"""
    with path.open("rb") as file:
        head = file.read(TAIL)
        file.seek(max(0, path.stat().st_size - TAIL))
        tail = file.read()
    if b"%PDF-" not in head[:1024]:
        match = signature(head)
        reason = f"is {match.kind}, not a PDF" if match else "does not begin as a PDF does"
        remedy = advice(match) if match else "give it the ending of what it is"
        raise UnreadableFile(path, reason, remedy)
    if b"%%EOF" not in tail:
        raise UnreadableFile(path, "is cut short: the end of the PDF is missing", FETCH_AGAIN)


def _unlock(path: Path, reader: PdfReader) -> None:
    """Open a PDF that is encrypted without a password; refuse one that needs it."""
    from pypdf import PasswordType
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        opened = reader.decrypt("") != PasswordType.NOT_DECRYPTED
    except DependencyError:
        remedy = 'run: pip install "pypdf[crypto]"'
        raise UnreadableFile(path, "is encrypted with AES", remedy) from None
    if not opened:
        remedy = "save a copy without the password (qpdf --decrypt --password=... in.pdf out.pdf)"
        raise UnreadableFile(path, "is protected by a password", remedy)


def _extract(path: Path, texts: list[str], title: str) -> Extract:
    """Pages put together with a newline between; passages prefer to begin at pages."""
    if not texts:
        raise UnreadableFile(path, "is a PDF without pages", FETCH_AGAIN)
    known = {word for text in texts for word in re.findall(r"[^\W\d_]+", text)}
    pages: list[Page] = []
    whole: list[str] = []
    at = 0
    for number, page in enumerate(texts, 1):
        words = _unhyphenated(page, known)
        if words and at:
            whole.append("\n")
            at += 1
        pages.append(Page(at, at + len(words), number))
        whole.append(words)
        at += len(words)
    if not "".join(whole).strip():
        remedy = "recognise its text first (ocrmypdf in.pdf out.pdf)"
        raise UnreadableFile(path, "holds pictures of pages but no text", remedy)
    starts = dict.fromkeys(page.start for page in pages if page.end > page.start)
    return Extract("".join(whole), title=title, pages=tuple(pages), breaks=tuple(starts))


def _unread(path: Path, reader: PdfReader, texts: Sequence[str]) -> Iterator[PartUnread]:
    """What a reader sees in the file and the text does not hold."""
    from pypdf.generic import TextStringObject

    pictures = [
        number
        for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), 1)
        if _is_picture(page, text)
    ]
    if pictures:
        noun = "page" if len(pictures) == 1 else "pages"
        reason = f"pictures without text on {noun} {_spans(pictures)} of {len(texts)}"
        remedy = "recognise their text (ocrmypdf --skip-text in.pdf out.pdf) and index that"
        yield PartUnread(path, reason, remedy)
    if attached := sum(1 for _ in reader.attachment_list):
        remedy = "save them from a viewer and index them"
        yield PartUnread(path, f"has files attached to it ({attached})", remedy)
    fields = (reader.get_fields() or {}).values()
    written = [each.value for each in fields if isinstance(each.value, TextStringObject)]
    if filled := sum(bool(value.strip()) for value in written):
        remedy = "print it into a new PDF and index that"
        yield PartUnread(path, f"is a form with fields filled in ({filled})", remedy)


def _is_picture(page: PageObject, text: str) -> bool:
    """Whether a page has no text but shows something, or is a scan with a stamp on it."""
    said = sum(map(str.isalnum, text))
    return (not said and _is_painted(page)) or (said < STAMP and _pixels(page) >= SCAN)


def _pixels(page: PageObject) -> int:
    """Of all pictures on a page, by what the file says of them."""
    objects = _within(_within(page, "/Resources"), "/XObject")
    pictures = [_within(objects, name) for name in objects]
    return sum(_number(each, "/Width") * _number(each, "/Height") for each in pictures)


def _within(holder: DictionaryObject, name: str) -> DictionaryObject:
    """A dictionary in a dictionary, an empty one where there is none."""
    from pypdf.generic import DictionaryObject

    entry = holder.get(name)
    entry = entry.get_object() if entry is not None else None
    return entry if isinstance(entry, DictionaryObject) else DictionaryObject()


def _number(holder: DictionaryObject, name: str) -> int:
    entry = holder.get(name)
    entry = entry.get_object() if entry is not None else None
    return entry if isinstance(entry, int) else 0


def _is_painted(page: PageObject) -> bool:
    """Whether anything but text is drawn on a page; a blank one is no loss."""
    contents = page.get_contents()
    return contents is not None and any(name in PAINTING for _, name in contents.operations)


def _spans(numbers: Sequence[int]) -> str:
    """Ascending numbers as people write them: 3, 5-7."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] + 1 == number:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    said = ", ".join("-".join(map(str, span)) for span in spans[:SPANS])
    more = len(spans) - SPANS
    return f"{said} and {more} more spans" if more > 0 else said


def _unhyphenated(text: str, known: set[str]) -> str:
    """Words broken at the end of a line put together, where the document has the whole word."""

    def joined(match: re.Match[str]) -> str:
        word = match[1] + match[2]
        return word + "\n" if word in known else match[0]

    return _HYPHENATED.sub(joined, re.sub("\u00ad\n?", "", text))


def _title(reader: PdfReader) -> str:
    """The title in the metadata, unless a program put the name of a file there."""
    title = reader.metadata.title if reader.metadata else None
    words = " ".join(clean(title).split()) if isinstance(title, str) else ""
    return "" if _NO_TITLE.fullmatch(words) else words


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
