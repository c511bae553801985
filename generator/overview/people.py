"""The people of a document by their names: who is known, and the whole name of a first one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexing.documents import Document
from indexing.text.english import STOP_WORDS

_TITLE = re.compile(r"^(?:Herrn?|Frau|Mrs?|Ms|Dr)\.?\s+")
_AND = re.compile(r"\s*(?:,|\band\b|\bund\b|&)\s*")


class People:
    """Who may be named in a document: its own people, and others where none of these is meant."""

    def __init__(self, own: Iterable[str], others: Iterable[str] = ()) -> None:
        self._tables = [_by_part(own), _by_part(others)]

    def is_known(self, names: str) -> bool:
        """Whether every word of a name, or of several with "and" between, is of somebody."""
        parts = [part for name in _apart(names) for part in name.split()]
        return bool(parts) and all(any(part in table for table in self._tables) for part in parts)

    def whole(self, names: str) -> str:
        """The names, each as a whole where it is that of one person only."""
        return ", ".join(map(self._whole, _apart(names)))

    def _whole(self, name: str) -> str:
        for table in self._tables:
            having = [table.get(part, frozenset()) for part in name.split()]
            found = frozenset.intersection(*having) if having else frozenset()
            if found:
                return next(iter(found)) if len(found) == 1 else name
        return name


def people_of(document: Document, others: Iterable[str] = ()) -> People:
    """Those who speak in a document or take part in it."""
    return People({*document.speakers, *document.occasion.participants}, others)


def _apart(names: str) -> list[str]:
    return [_TITLE.sub("", each) for each in _AND.split(names.strip()) if each]


def _by_part(names: Iterable[str]) -> dict[str, frozenset[str]]:
    """The names that have a word, by it."""
    table: dict[str, frozenset[str]] = {}
    for name in names:
        for part in name.partition("(")[0].split():  # without the office that somebody holds
            if part.lower() in STOP_WORDS:  # "The Chair"
                continue
            table[part] = table.get(part, frozenset()) | {name}
    return table
