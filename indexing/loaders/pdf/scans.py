"""The pages of a PDF that are pictures: what OCR reads on them, and what it cannot read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import PartUnread, UnreadableFile
from indexing.message import N_
from indexing.ocr.recognition import Recognition, current
from indexing.text.running_heads import PageLines

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdf import PageObject
    from pypdf.generic import DictionaryObject

    from indexing.ocr.reading import OcrSettings

SPANS = 12  # of page numbers, that are spelled out
STAMP = 30  # letters and digits: a page number, a stamp on a scan
SCAN = 500_000  # pixels: A4 at 72 dots an inch; logos have fewer
ELSEWHERE = N_("recognise their text in another program, and index what that saves")
# ISO 32000-1, table 51: operators that paint a path, a shading or an object; then pypdf's own name.
PAINTING = frozenset(b"f F f* B B* b b* S s sh Do".split()) | {b"INLINE IMAGE"}


@dataclass(slots=True)
class Scans:
    """What became of the pages that are pictures; pages are counted from 0."""

    count: int  # of all pages
    pages: dict[int, PageLines] = field(default_factory=dict)  # the lines of those that were read
    confidence: dict[int, float] = field(default_factory=dict)  # with which they were
    blank: list[int] = field(default_factory=list)  # those in which nothing was recognised
    # those that could not be read, each with the reason
    failed: dict[int, str] = field(default_factory=dict)
    untried: list[int] = field(default_factory=list)  # those that nobody tried to read
    remedy: str = ""  # what to do so that they are read

    def nothing_read(self, path: Path) -> UnreadableFile:
        """The error for a file without any text."""
        if self.untried:
            return UnreadableFile(path, N_("holds pictures of pages but no text"), self.remedy)
        if self.failed:
            reason = N_("holds pictures of pages only, and %(why)s", why=self._why())
            return UnreadableFile(path, reason, ELSEWHERE)
        if self.blank:
            reason = N_("holds no text, and none was recognised in its pictures")
            remedy = N_("scan it again with more dots an inch, or remove it")
            return UnreadableFile(path, reason, remedy)
        return UnreadableFile(path, N_("holds no text"), N_("remove it, or fetch it again"))

    def unread(self, path: Path) -> Iterator[PartUnread]:
        """What a reader sees in the pictures and the text does not hold."""
        if self.untried:
            reason = N_("pictures without text on %(pages)s", pages=self._page_spans(self.untried))
            yield PartUnread(path, reason, self.remedy)
        if self.failed:
            yield PartUnread(path, self._why(), ELSEWHERE)
        if self.blank:
            reason = N_(
                "no text was recognised in the pictures on %(pages)s",
                pages=self._page_spans(self.blank),
            )
            remedy = N_("if there is some, scan it again with more dots an inch")
            yield PartUnread(path, reason, remedy)

    def _why(self) -> str:
        reason = next(iter(self.failed.values()))
        pages = self._page_spans(list(self.failed))
        return N_("%(pages)s could not be read (%(error)s)", pages=pages, error=reason)

    def _page_spans(self, pages: Sequence[int]) -> str:
        noun = "page" if len(pages) == 1 else "pages"
        return f"{noun} {spans([at + 1 for at in pages])} of {self.count}"


def read_scans(path: Path, pages: Iterable[PageObject], lines: Sequence[PageLines]) -> Scans:
    """Read the pages that are pictures, as far as that is possible."""
    scans = Scans(len(lines))
    pictures = [
        at
        for at, (page, read) in enumerate(zip(pages, lines, strict=True))
        if _is_picture(page, "".join(read.lines))
    ]
    recognition = current()
    if not pictures:
        return scans
    scans.remedy = ELSEWHERE if recognition is None else recognition.remedy()
    if recognition is None or scans.remedy:
        scans.untried = pictures
        return scans
    for order, (at, picture) in enumerate(_pictures(path, pictures, recognition.settings), 1):
        if isinstance(picture, str):
            scans.failed[at] = picture
        else:
            read_scan(scans, at, picture, recognition, place=(order, len(pictures)))
    return scans


def read_scan(
    scans: Scans, at: int, picture: Image, recognition: Recognition, *, place: tuple[int, int]
) -> None:
    """Read the picture of a page, and note what became of it.

    Args:
        scans: Of the file.
        at: The page, counted from 0.
        picture: In grey levels.
        recognition: One that has no remedy.
        place: Its number among the pages that are read, from 1, and how many these are.
    """
    reading = recognition.read(picture, page=place[0], of=place[1])
    rows = reading.rows(*picture.size)
    if reading.failure:
        scans.failed[at] = reading.failure
    elif rows and reading.confidence is not None:
        scans.pages[at] = PageLines.of(rows, picture.height)
        scans.confidence[at] = round(reading.confidence, 2)
    else:
        scans.blank.append(at)


def _pictures(
    path: Path, pages: Sequence[int], settings: OcrSettings
) -> Iterator[tuple[int, Image | str]]:
    """Pages as they are shown, in grey levels, or why they cannot be."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        yield from ((at, f"it cannot be drawn: {error}") for at in pages)
        return
    try:
        for at in pages:
            try:
                page = document[at]
                across, down = (side / 72 for side in page.get_size())
                dots = min(settings.dpi, math.sqrt(settings.pixels / max(across * down, 1e-6)))
                picture = page.render(scale=dots / 72, grayscale=True).to_pil().convert("L")
                page.close()
            except (pypdfium2.PdfiumError, ValueError) as error:
                yield at, f"it cannot be drawn: {error}"
            else:
                yield at, picture
    finally:
        document.close()


def _is_picture(page: PageObject, text: str) -> bool:
    """Whether a page has no text but shows something, or is a scan with a stamp on it.

    Text of letters that nobody knows, as of fonts that do not say what their signs mean, is none.
    """
    letters = sum(map(str.isalnum, text))
    if text.count("\ufffd") > letters:
        return True
    return (not letters and _is_painted(page)) or (letters < STAMP and _pixels(page) >= SCAN)


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


def spans(numbers: Sequence[int]) -> str:
    """Ascending numbers as people write them: 3, 5-7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    listed = ", ".join("-".join(map(str, span)) for span in runs[:SPANS])
    more = len(runs) - SPANS
    return f"{listed} and {more} more spans" if more > 0 else listed
