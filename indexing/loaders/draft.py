"""The text of a document while a loader puts it together: pieces, pages and headings."""

from __future__ import annotations

from indexing.documents import Extract, Page
from indexing.loaders.charset import clean

GAPS = ("", " ", " | ", "\n", "\n\n")  # from the weakest to the strongest


class Draft:
    """Text that grows piece by piece, with the offsets that an extract needs."""

    def __init__(self) -> None:
        self.length = 0
        self._pieces: list[str] = []
        self.breaks: list[int] = []
        self._pages: list[tuple[int, int, str]] = []  # start, number, name
        self._gap = ""

    @property
    def text(self) -> str:
        """What there is so far."""
        return "".join(self._pieces)

    def separate(self, gap: str) -> None:
        """Ask for white space before the next words; the strongest request wins."""
        self._gap = max(self._gap, gap, key=GAPS.index)

    def write(self, words: str, *, heading: bool = False) -> int:
        """Add words after the white space asked for; the offset at which they begin."""
        return self.write_clean(clean(words), heading=heading)

    def write_clean(self, words: str, *, heading: bool = False) -> int:
        """As `write`, of words that are clean already."""
        if self.length:
            self._pieces.append(self._gap)
            self.length += len(self._gap)
        start, self._gap = self.length, ""
        if heading:
            self.breaks.append(start)
        self._pieces.append(words)
        self.length += len(words)
        return start

    def page(self, start: int, number: int, name: str) -> None:
        """A page begins at an offset, and ends where the next one begins."""
        self._pages.append((start, number, name))

    def heading_at(self, start: int) -> None:
        """A heading begins at an offset."""
        self.breaks.append(start)

    def extract(self, title: str) -> Extract:
        """All of it."""
        text = self.text
        ends = [*(start for start, _, _ in self._pages), len(text)][1:]
        return Extract(
            text,
            title=title,
            pages=tuple(
                Page(start, end, number, name)
                for (start, number, name), end in zip(self._pages, ends, strict=True)
            ),
            breaks=tuple(dict.fromkeys(at for at in sorted(self.breaks) if at < len(text))),
        )
