"""OpenDocument texts: paragraphs, headings, lists and tables in the order of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders import table
from indexing.loaders.charset import printable
from indexing.loaders.draft import Draft
from indexing.loaders.office.container import Kind, check, opened, outside_of_body
from indexing.loaders.xml_file import Element, name_of, nearest, parse
from indexing.message import N_

DEEPEST = 100  # sections, lists and tables within each other
REPEATED = 1_000  # cells or spaces that one element may stand for

# Not in the body as one reads it: deleted text, notes and comments, which are counted, indexes of
# which the words come again, and forms.
_SKIPPED = frozenset({"tracked-changes", "sequence-decls", "forms", "desc"})
_ELSEWHERE = {"note": "footnotes", "annotation": "comments", "object": "embedded objects"}


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The body of the document, a blank line between paragraphs, " | " between cells.

    Then what is not in it: footnotes, comments, embedded objects.

    Raises:
        UnreadableFile: It is no OpenDocument text, protected, damaged, or unpacks to too much.
    """
    kind = check(path, ".odt")
    with opened(path, kind) as archive:
        names = archive.namelist()
        manifest = "META-INF/manifest.xml"
        if manifest in names and b"encryption-data" in archive.read(manifest):
            remedy = N_("save a copy without the password")
            raise UnreadableFile(path, N_("is protected by a password"), remedy)
        body = _body(path, parse(archive.read("content.xml")), kind)
        title = _title(parse(archive.read("meta.xml"))) if "meta.xml" in names else ""
    draft, counts = Draft(), Counter[str]()
    heading = _write(draft, body, counts)
    yield draft.extract(title or heading or printable(path.stem))
    yield from outside_of_body(path, counts)


def _body(path: Path, root: Element, kind: Kind) -> Element:
    body = next(root.iter("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}text"), None)
    if body is None:
        reason = N_("is an OpenDocument file, but not a text")
        raise UnreadableFile(
            path, reason, N_("save it as .pdf, or as a text, %(suffix)s", suffix=kind.suffix)
        )
    return body


def _title(meta: Element) -> str:
    named = next(meta.iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return "" if named is None else " ".join(printable("".join(named.itertext())).split())


def _write(draft: Draft, body: Element, counts: Counter[str]) -> str:
    """Write all blocks in order; the words of the first heading."""
    first = ""
    for block, gap in _blocks(body, counts, 0):
        name = name_of(block)
        if name == "table":
            rows = [_cells(row, counts) for row in nearest(block, "table-row")]
            lines = [line.text for line in table.lines(rows) if line.text]
            draft.separate("\n\n")
            for line in lines:
                draft.write(line)
                draft.separate("\n")
            draft.separate("\n\n")
        elif words := _words(block, counts):
            draft.separate(gap)
            draft.write(words, heading=name == "h")
            draft.separate("\n" if gap == "\n" else "\n\n")
            first = first or (" ".join(words.split()) if name == "h" else "")
    return first


def _blocks(
    element: Element, counts: Counter[str], depth: int, gap: str = "\n\n"
) -> Iterator[tuple[Element, str]]:
    """Headings, paragraphs and tables, with the gap before each; items of lists stand close."""
    if depth > DEEPEST:
        return
    for child in element:
        name = name_of(child)
        if name in ("h", "p", "table"):
            yield child, gap
        elif name and name not in _SKIPPED:
            inner = "\n" if name in ("list", "list-item") else gap
            yield from _blocks(child, counts, depth + 1, inner)


def _cells(row: Element, counts: Counter[str]) -> list[str]:
    """The cells of a row (OpenDocument 1.3, 9.1.4), those that are covered by others empty."""
    cells: list[str] = []
    for cell in row:
        name = name_of(cell)
        if name in ("table-cell", "covered-table-cell"):
            paragraphs = [_words(each, counts) for each in cell.iter("{*}p", "{*}h")]
            words = " ".join(" ".join(filter(None, paragraphs)).split())
            times = next((v for k, v in cell.attrib.items() if k.endswith("columns-repeated")), "1")
            cells += [words] * min(int(times), REPEATED)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _words(block: Element, counts: Counter[str]) -> str:
    """What a paragraph says; notes and comments in it are counted instead."""
    pieces: list[str] = [block.text or ""]
    pending: list[Element | str] = list(
        reversed([x for child in block for x in (child, child.tail)])
    )
    while pending:
        node = pending.pop()
        if node is None or isinstance(node, str):
            pieces.append(node or "")
            continue
        name = name_of(node)
        if name in _ELSEWHERE:
            counts[_ELSEWHERE[name]] += 1
        elif name == "s":
            times = next((v for k, v in node.attrib.items() if k.endswith("}c")), "1")
            pieces.append(" " * min(int(times), REPEATED))
        elif name in ("tab", "line-break"):
            pieces.append("\t" if name == "tab" else "\n")
        elif name and name not in _SKIPPED:
            pieces.append(("\n" if name == "p" else "") + (node.text or ""))
            pending += reversed([x for child in node for x in (child, child.tail)])
    lines = "".join(pieces).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()
