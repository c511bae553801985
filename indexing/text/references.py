"""Lists of references: where a paper, a report or a book names the works that it cites.

Their titles have the words of every question on the subject and answer none. A list begins at its
heading and ends where its lines no longer look like those of entries: names with initials, volumes
and pages, addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_HEADING = re.compile(
    r"^[^\S\n]*(?:\#{1,6}[^\S\n]+)?(?:(?:\d{1,2}|[IVX]{1,4})\.?[^\S\n]+)?"
    r"(?:references(?:[^\S\n]+and[^\S\n]+notes|[^\S\n]+cited)?|reference[^\S\n]+list|bibliography"
    r"|works[^\S\n]+cited|literature[^\S\n]+cited|literatur(?:verzeichnis)?|quellenverzeichnis"
    r"|bibliographie|références|referencias|bibliografía)[^\S\n]*:?[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LINE = re.compile(r"[^\n]+")
_MARK = re.compile(
    r"\b[A-Z][\w'\u2019-]+,[^\S\n]?[A-Z]\."  # Radford, A.
    r"|\b[A-Z][\w'\u2019-]+[^\S\n][A-Z]{1,3}(?=[,.;]|[^\S\n]\()"  # Radford A,
    r"|\b(?:[A-Z]\.[^\S\n-]?){1,4}[A-Z][a-z\u00c0-\u024f'\u2019-]+"  # A. Radford
    r"|(?i:https?://|\bdoi\b|\barxiv\b|\bisbn\b|\bavailable at\b)"
    r"|\b\d+[^\S\n]?(?:\(\d+(?:[-\u2013]\d+)?\))?[:,][^\S\n]?e?\d+[-\u2013]\d+"  # 33(3):331-357
    r"|\bpp?\.[^\S\n]?\d|\bpages?[^\S\n]\d|\beds?\.|\bIn[^\S\n](?:Proceedings|Advances)\b"
)
_AHEAD = 8  # lines that are looked at together
_LONGEST = 1_000  # characters of a line that are looked at
_LEAST = 2  # of them that look like entries


@lru_cache(maxsize=16)
def reference_lists(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the lists of references of a document, headings left out, in order."""
    return tuple(_lists(text))


def _lists(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for heading in _HEADING.finditer(text):
        if heading.start() < end:
            continue
        end = _end(text, heading.end())
        if end > heading.end():
            yield heading.end(), end


def _end(text: str, start: int) -> int:
    """One past the last entry of the list that begins here, if one does."""
    lines = (line for line in _LINE.finditer(text, start) if not line[0].isspace())
    ahead = [line for line, _ in zip(lines, range(_AHEAD), strict=False)]
    marked = [_is_entry(line[0]) for line in ahead]
    end = start
    while sum(marked) >= _LEAST:
        if marked.pop(0):
            end = ahead[0].end()
        ahead.pop(0)
        if (line := next(lines, None)) is not None:
            ahead.append(line)
            marked.append(_is_entry(line[0]))
    last = [line.end() for line, is_entry in zip(ahead, marked, strict=True) if is_entry]
    return max([end, *last[:1]]) if end > start else start


def _is_entry(line: str) -> bool:
    return _MARK.search(line, 0, _LONGEST) is not None
