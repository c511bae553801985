"""The documents that a question names, looked up one by one: others are not read.

What a question may need of all documents (their dates and people, whether "the third meeting" is
of a series, a part of a name) is read when a question asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

from indexing.filter import Filter
from indexing.store.derived.limits import admitted_rows
from indexing.store.derived.name_keys import beginning, words_of
from indexing.store.view import FEW, DocumentEntry, NamedDocument, StoreView
from indexing.text.english import ORDINALS
from rag_app.requests.naming.catalogue import (
    ID,
    LONGEST,
    MANY,
    Catalogue,
    Mention,
    Name,
    grouped_names,
    names_of,
)
from rag_app.requests.occasions import Meetings

_SERIES = re.compile(rf"meeting\d|(?:{'|'.join(ORDINALS)})meeting")


class StoredCatalogue(Catalogue):
    """The documents of a store at one moment, by the names that people call them.

    The store is limited to those that may be read. `whole` reads what all of them are called; None
    for each time anew.
    """

    def __init__(self, store: StoreView, whole: Callable[[], Catalogue] | None = None) -> None:
        super().__init__((), ())
        self._store = store
        self._whole = whole or (lambda: Catalogue.of(store.named()))

    def mentions(self, question: str) -> list[Mention]:
        """As `Catalogue.mentions`."""
        return self._among(words_of(question)).mentions(question)

    def _called(self, text: str) -> Name | None:
        words = words_of(text)
        among = self._among(words) if len(words) <= LONGEST else self._whole()
        return among._called(text)

    def _among(self, words: Sequence[str]) -> Catalogue:
        """The documents that are called by some of these words, by these names."""
        if _SERIES.search("".join(words)):
            return self._whole()
        names, called = self._store.names, dict[str, list[int]]()
        for key in names.within(words, "n", longest=LONGEST):
            called[key] = names.documents("n", key, most=MANY + 1)
        first = {
            key: names.documents("b", key, most=2)
            for key in names.within(words, "b", longest=LONGEST)
        }
        only = {key: rows[0] for key, rows in first.items() if len(rows) == 1}
        ids = [row for row in _rows_of(words) if ID.fullmatch(row)]
        few = {key: rows for key, rows in called.items() if len(rows) <= MANY}
        rows = {*chain(*few.values()), *only.values()}
        rows |= {row for row, *_ in self._store.document_rows(ids)} if ids else set()
        documents = self._store.named(sorted(rows))
        kept = {*few, *only, *ids}

        def every() -> Iterator[tuple[str, tuple[str, ...], bool]]:
            for one in documents:
                yield from names_of(one)
            for one in documents:
                start = beginning(PurePosixPath(one.path).stem)
                if "".join(start) in only:
                    yield one.id, start, False

        found = grouped_names(each for each in every() if "".join(each[1]) in kept)
        return Catalogue.of(documents, names=found)

    def title_words(self, words: Sequence[str]) -> frozenset[str]:
        """As `Catalogue.title_words`."""
        titled = self._store.names
        return frozenset(one for one in words if titled.documents("t", one, most=1))

    def titles(self, ids: Sequence[str]) -> str:
        """As `Catalogue.titles`."""
        return Catalogue.of(self._store.named(self._rows(ids))).titles(ids)

    # What is known of all documents only

    @property
    def entries(self) -> Mapping[str, DocumentEntry | NamedDocument]:
        """As `Catalogue.entries`."""
        return self._whole().entries

    @property
    def transcripts(self) -> frozenset[str]:
        """As `Catalogue.transcripts`."""
        return self._whole().transcripts

    def _called_in_part(self, text: str) -> tuple[str, ...]:
        return self._whole()._called_in_part(text)

    def titled(self, phrase: str) -> tuple[str, ...]:
        """As `Catalogue.titled`."""
        return self._whole().titled(phrase)

    # What is looked up

    def is_larger_than(self, number: int) -> bool:
        """As `Catalogue.is_larger_than`."""
        return self._store.is_larger_than(number)

    def meetings(self, where: Filter) -> Meetings:
        """As `Catalogue.meetings`; those of a person's own limits are read one by one."""
        if _is_of_all(where):
            return self._store.occasions
        rows = self._admitted(where)
        few = Catalogue.of(self._store.named(rows)) if len(rows) <= FEW else self._whole()
        return few.meetings(where)

    def admitted(self, where: Filter) -> tuple[str, ...]:
        """As `Catalogue.admitted`."""
        return tuple(self._store.ids(self._admitted(where)))

    def count(self, where: Filter) -> int:
        """As `Catalogue.count`."""
        return len(self._admitted(where))

    def admits_any(self, where: Filter) -> bool:
        """As `Catalogue.admits_any`."""
        if len(names := where.participants) == 1 and _is_of_all(replace(where, participants=())):
            return bool(self._store.occasions.called(names[0]))
        return super().admits_any(where)

    def days(self, where: Filter) -> list[str]:
        """As `Catalogue.days`."""
        known = self._store.occasions
        if _is_of_all(where):
            return [*filter(None, (known.first, known.last)), *[""] * known.undated]
        days = known.days()
        return [days.get(row, "") for row in self._admitted(where)]

    def all_dated(self, where: Filter) -> bool:
        """As `Catalogue.all_dated`."""
        if _is_of_all(where):
            return self._store.occasions.all_spoken_dated
        return self._whole().all_dated(where)

    def _admitted(self, where: Filter) -> list[int]:
        return admitted_rows(self._store, where)

    def _rows(self, ids: Sequence[str]) -> list[int]:
        return [row for row, *_ in self._store.document_rows(ids)]


def _is_of_all(where: Filter) -> bool:
    """Whether a filter admits every document, its collections aside."""
    return not (where.documents or where.path or where.is_of_occasions)


def _rows_of(words: Sequence[str]) -> Iterator[str]:
    """Some words side by side, each row of them."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
            yield "".join(words[start:end])
