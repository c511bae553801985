"""HTML: the visible text of a page, in blocks, without scripts, menus and hidden parts."""

from __future__ import annotations

import re
import warnings
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from indexing.documents import Extract, Figure
from indexing.errors import UnreadableFile
from indexing.loaders.charset import clean, decode, remarks
from indexing.loaders.draft import Draft
from indexing.loaders.figures import Gallery
from indexing.loaders.magic import refuse_other_kind
from indexing.message import N_
from indexing.text.tables import SEPARATOR, with_header

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

HEAD = 4096  # bytes in which a page may name its encoding

_CHARSET = re.compile(
    rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.I
)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPACE = re.compile(r"[ \t\r\n\f\u200b]+")

# fmt: off
UNSEEN = frozenset((
    "audio", "button", "canvas", "datalist", "dialog", "head", "iframe", "nav", "noscript",
    "object", "script", "select", "style", "svg", "template", "video",
))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
PARAGRAPHS = HEADINGS | frozenset((
    "address", "article", "aside", "blockquote", "body", "details", "dl", "fieldset", "figure",
    "footer", "form", "header", "hr", "main", "ol", "p", "pre", "section", "table", "ul",
))
LINES = frozenset((
    "br", "caption", "dd", "div", "dt", "figcaption", "legend", "li", "summary", "tbody",
    "tfoot", "thead", "tr",
))
# fmt: on
CELLS = ("td", "th")
MOST_BYTES = 32 * 1024 * 1024  # of the file of a picture
_DATA = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


class VisibleText(Draft):
    """The text of a page as it is put together, with where anchors and pictures are."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: dict[str, int] = {}  # offsets by `id`
        self.pictures: list[tuple[Tag, int]] = []  # elements, and the offset at which they stand
        self._coming: list[str] = []  # anchors of the next word

    def write_clean(self, words: str, *, heading: bool = False) -> int:
        """As `Draft.write_clean`; what is anchored at the next word is there."""
        start = super().write_clean(words, heading=heading)
        self.anchors |= dict.fromkeys(self._coming, start)
        self._coming.clear()
        return start

    def anchor(self, name: str) -> None:
        """The next word is what a link to this name leads to."""
        self._coming.append(name)

    def heading(self) -> None:
        """The next word begins a heading."""
        self.separate("\n\n")
        self.heading_at(self.length + (len(self._gap) if self.length else 0))


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The visible text; the title from `<title>`, else from the first heading.

    Raises:
        UnreadableFile: It is binary, in no encoding that can be recognised, or shows no text.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, "HTML")
    declared = _CHARSET.search(data[:HEAD])
    markup = decode(
        path, data, declared=declared[1].decode("ascii", "replace") if declared else None
    )
    soup = parse(markup)
    page = visible(soup)
    text = page.text
    if not text.strip():
        remedy = N_("print it into a PDF from a browser, which runs its scripts, and index that")
        raise UnreadableFile(path, N_("holds no text"), remedy)
    breaks = tuple(dict.fromkeys(at for at in page.breaks if at < len(text)))
    title = _title(soup, text, breaks) or clean(path.stem)
    yield Extract(text, title=title, breaks=breaks, figures=_figures(path, page))
    if declared is None:
        yield from remarks(path)


def parse(markup: str) -> BeautifulSoup:
    """The tree of a page."""
    from bs4 import BeautifulSoup, UnusualUsageWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusualUsageWarning)
        return BeautifulSoup(clean(markup), "lxml")


def visible(soup: BeautifulSoup) -> VisibleText:
    """What a reader sees of a page.

    Walks the tree in the order of the page, with a stack of its own: pages nest deeply.
    """
    from bs4.element import NavigableString, Tag

    page = VisibleText()
    preformatted = 0
    pending: list[tuple[object, bool]] = [(soup, True)]  # a node, and whether it begins or ends
    while pending:
        node, begins = pending.pop()
        if isinstance(node, Tag):
            if begins and _is_hidden(node):
                continue
            if begins and node.name == "img":
                page.pictures.append((node, page.length))
            if begins and node.name == "table" and (rows := _named_rows(node)):
                page.separate("\n\n")
                for row in rows:
                    page.separate("\n")
                    page.write_clean(row)
                page.separate("\n\n")
                continue
            _bound(page, node.name, begins=begins)
            preformatted += (1 if begins else -1) if node.name == "pre" else 0
            if begins:
                if isinstance(name := node.get("id"), str):
                    page.anchor(name)
                pending.append((node, False))
                pending.extend((child, True) for child in reversed(node.contents))
        elif type(node) is NavigableString:  # its subclasses are comments and the like
            _say(page, str(node), preformatted=preformatted > 0)
    return page


def _named_rows(table: Tag) -> list[str]:
    """The rows of a table whose first row is of headers, with these; none where that is unsure."""
    rows = table.find_all("tr")
    if len(rows) < 2 or table.find(("table", "pre", "img", "caption", *HEADINGS)):
        return []
    cells = [row.find_all(CELLS, recursive=False) for row in rows]
    plain = [cell for row in cells for cell in row]
    if any(cell.name != "th" for cell in cells[0]) or any(
        cell.has_attr("colspan") or cell.has_attr("rowspan") for cell in plain
    ):
        return []
    if any(tag.get("id") or _is_hidden(tag) for tag in table.find_all(True)):
        return []
    texts = [[_SPACE.sub(" ", clean(cell.get_text(" "))).strip() for cell in row] for row in cells]
    if not all(any(row) for row in texts):
        return []
    lines = with_header(texts, marked=True)
    return lines if lines[0] and lines[-1] != SEPARATOR.join(texts[-1]) else []


def _figures(path: Path, page: VisibleText) -> tuple[Figure, ...]:
    """The pictures within a page or beside it, with their captions."""
    gallery = Gallery()
    for tag, at in page.pictures:
        data = _picture(path, str(tag.get("src") or ""))
        if data is not None:
            figure = tag.find_parent("figure")
            caption = figure.find("figcaption") if figure else None
            description = caption.get_text(" ") if caption else str(tag.get("alt") or "")
            gallery.add(data, start=min(at, len(page.text)), caption=clean(description))
    return gallery.figures()


def _picture(path: Path, source: str) -> bytes | None:
    """The data of a picture in the page itself, or in a file within the page's folder."""
    if match := _DATA.match(source):
        try:
            return b64decode(unquote(source[match.end() :]), validate=False)
        except ValueError:
            return None
    parts = urlsplit(source)
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return None
    try:
        file = (path.parent / unquote(parts.path)).resolve()
        inside = file.is_relative_to(path.parent.resolve()) and file.is_file()
        return file.read_bytes() if inside and file.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError):
        return None


def _is_hidden(tag: Tag) -> bool:
    """Whether a reader of the page does not see the element."""
    if tag.name in UNSEEN:
        return True
    style = tag.get("style")
    return (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or (isinstance(style, str) and bool(_HIDING.search(style)))
    )


def _bound(page: VisibleText, name: str, *, begins: bool) -> None:
    """The white space that an element asks for where it begins and ends."""
    if begins and name in HEADINGS:
        page.heading()
    elif name in PARAGRAPHS:
        page.separate("\n\n")
    elif name in LINES:
        page.separate("\n")
    elif name in CELLS and begins:
        page.separate(" | ")


def _say(page: VisibleText, words: str, *, preformatted: bool) -> None:
    """Words of the page, runs of white space as one blank unless they are preformatted."""
    words = clean(words)  # entities may stand for what the markup cannot hold
    if preformatted:
        if words.strip():
            page.write_clean(words.strip("\n"))
        return
    words = _SPACE.sub(" ", words)
    if words.startswith(" "):
        page.separate(" ")
    if words.strip(" "):
        page.write_clean(words.strip(" "))
        if words.endswith(" "):
            page.separate(" ")


def _title(soup: BeautifulSoup, text: str, breaks: tuple[int, ...]) -> str:
    """What the page calls itself."""
    named = soup.head.title.get_text() if soup.head and soup.head.title else ""
    if named.strip():
        return " ".join(clean(named).split())
    first = text[breaks[0] :].partition("\n")[0] if breaks else ""
    return first.strip()
