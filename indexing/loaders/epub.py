"""E-books (EPUB 2 and 3): the chapters in reading order, each a page.

A chapter is called what the table of contents calls it, else by its heading.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from indexing.documents import Extract
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders import html
from indexing.loaders.charset import decode, one_line, printable
from indexing.loaders.draft import Draft
from indexing.loaders.office.container import Kind, check, opened
from indexing.loaders.xml_file import Element, parse
from indexing.message import N_
from indexing.ocr import AS_PDF

NAME = 120  # characters of a chapter's name

# Fonts may be obfuscated (EPUB 3.3, 4.2.6.3.2.1, and Adobe's way); anything else keeps readers out.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


@dataclass(frozen=True, slots=True)
class _Book:
    """What the package document says (EPUB 3.3, 5): the paths are those in the archive."""

    title: str  # of the book
    chapters: tuple[str, ...]  # files in reading order
    contents: str  # the file with the table of contents; "" for none


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the table of contents: where it leads, and its words."""

    path: str
    anchor: str
    words: str


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text of all chapters; the title from the book's metadata.

    Raises:
        UnreadableFile: It is no e-book, protected, damaged, or unpacks to too much.
    """
    kind = check(path, ".epub")
    with opened(path, kind) as archive:
        _refuse_protected(path, archive)
        book = _book(path, archive, kind)
        entries = list(_entries(path, archive, book.contents))
        draft, pages = Draft(), 0
        broken: list[UnreadableFile] = []
        for name in book.chapters:
            here = [each for each in entries if each.path == name]
            try:
                if name != book.contents:
                    pages += _write(draft, _page(path, archive, name), here, pages)
            except UnreadableFile as error:
                broken.append(error)
    if not draft.length and broken:
        raise broken[0]
    if not draft.length:
        raise UnreadableFile(path, N_("holds pictures but no text"), AS_PDF)
    yield draft.extract(book.title or printable(path.stem))
    if broken:
        reason = N_(
            "has chapters that cannot be read (%(number)s; the first %(name)s)",
            number=len(broken),
            name=broken[0].reason,
        )
        yield PartUnread(path, reason, kind.save_again)


def _refuse_protected(path: Path, archive: ZipFile) -> None:
    """Refuse a book that only its seller's program can read."""
    if "META-INF/encryption.xml" not in archive.namelist():
        return
    root = parse(archive.read("META-INF/encryption.xml"))
    methods = {each.get("Algorithm") for each in root.iter("{*}EncryptionMethod")}
    if methods - set(_FONTS_ONLY):
        remedy = N_("ask where you bought it for a copy without protection")
        raise UnreadableFile(path, N_("is protected against copying (DRM)"), remedy)


def _book(path: Path, archive: ZipFile, kind: Kind) -> _Book:
    """The package document, which says what the book consists of."""
    root = parse(archive.read("META-INF/container.xml"))
    where = next((each.get("full-path") for each in root.iter("{*}rootfile")), None)
    if not where or where not in archive.namelist():
        reason = N_("is a damaged e-book: it does not say what it consists of")
        raise UnreadableFile(path, reason, kind.save_again)
    package = parse(archive.read(where))
    files, contents, old_contents = {}, "", ""
    for item in package.iter("{*}item"):
        file = _resolved(where, item.get("href", ""))[0]
        files[item.get("id")] = file
        if "nav" in item.get("properties", "").split():
            contents = file
        elif item.get("media-type") == "application/x-dtbncx+xml":
            old_contents = file
    order = [files.get(each.get("idref"), "") for each in package.iter("{*}itemref")]
    known = set(archive.namelist())
    return _Book(
        _field(package, "title"),
        tuple(name for name in dict.fromkeys(order) if name in known),
        next((name for name in (contents, old_contents) if name in known), ""),
    )


def _field(package: Element, name: str) -> str:
    """The first field of the metadata by that name that says anything."""
    words = (" ".join("".join(each.itertext()).split()) for each in package.iter("{*}" + name))
    return next((printable(each) for each in words if each), "")


def _entries(path: Path, archive: ZipFile, contents: str) -> Iterator[_Entry]:
    """The table of contents: a navigation document (EPUB 3) or an NCX (EPUB 2)."""
    if not contents:
        return
    data = archive.read(contents)
    if contents.lower().endswith(".ncx"):
        for point in parse(data).iter("{*}navPoint"):
            link = next((each.get("src", "") for each in point.iter("{*}content")), "")
            label = next(point.iter("{*}text"), None)
            yield _entry(contents, link, "" if label is None else "".join(label.itertext()))
        return
    soup = html.parse(decode(path, data, declared="utf-8"))
    menus = soup.find_all("nav")
    candidates = [
        each for each in menus if "toc" in str(each.get("epub:type", "")).split()
    ] or menus
    for menu in candidates[:1]:
        for link in menu.find_all("a", href=True):
            yield _entry(contents, str(link["href"]), link.get_text(" "))


def _entry(base: str, link: str, words: str) -> _Entry:
    return _Entry(*_resolved(base, link), one_line(" ".join(words.split()))[:NAME])


def _resolved(base: str, link: str) -> tuple[str, str]:
    """A relative link of a file as the path in the archive, and the anchor there."""
    file, _, anchor = link.partition("#")
    folder = posixpath.dirname(base)
    return posixpath.normpath(posixpath.join(folder, unquote(file))), unquote(anchor)


def _page(path: Path, archive: ZipFile, name: str) -> html.VisibleText:
    return html.visible(html.parse(decode(path, archive.read(name), declared="utf-8")))


def _write(draft: Draft, page: html.VisibleText, entries: Sequence[_Entry], pages: int) -> int:
    """Add a file of the book; how many chapters begin in it."""
    text = page.text
    if not text.strip():
        return 0
    draft.separate("\n\n")
    start = draft.write(text)
    for at in page.breaks:
        draft.heading_at(start + at)
    begins: dict[int, str] = {}
    for entry in entries:
        at = page.anchors.get(entry.anchor, 0) if entry.anchor else 0
        begins[at] = begins.get(at) or entry.words
    first = "" if begins else _heading(page)
    if 0 not in begins and (first or not pages):  # else it goes on with the chapter before
        begins[0] = first
    named = sorted(begins.items())
    for number, (at, words) in enumerate(named, pages + 1):
        draft.page(start + at, number, words or f"section {number}")
        draft.heading_at(start + at)
    return len(named)


def _heading(page: html.VisibleText) -> str:
    """The first heading of a file that the table of contents does not name."""
    if not page.breaks:
        return ""
    return one_line(page.text[page.breaks[0] :].partition("\n")[0])[:NAME].strip()
