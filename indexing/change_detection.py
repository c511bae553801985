"""The documents of a corpus by content and place, and what a file's documents change.

Whether a document is new, changed, moved or a copy is decided here, apart from reading, encoding
and committing. What is known follows a run step by step, so that what the run did to one file
counts for the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from indexing.documents import NO_OCCASION, Document, Occasion


@dataclass(frozen=True, slots=True)
class DocumentIdentity:
    """What tells a document of the corpus from the others."""

    id: str
    path: str
    part: str
    title: str
    digest: str
    occasion: Occasion = NO_OCCASION


class Change(Enum):
    """What to do with a document that was read."""

    NOTHING = auto()  # it is there already
    RELABEL = auto()  # its content is there, with another part, title or date of the same file
    MOVE = auto()  # its content is there, from a file that is gone
    COPY = auto()  # its content is there, and the file it came from is, too
    JOIN = auto()  # its content is in the corpus, in other collections only
    UPDATE = auto()  # its place is there, with another content
    ADD = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """One document, what to do with it, and what is there already (nothing, for an ADD)."""

    change: Change
    document: Document
    existing: DocumentIdentity | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file means to a corpus."""

    steps: tuple[Step, ...]  # one for each of its documents, in order
    # what the corpus holds from the file and the file holds no more
    removed: tuple[DocumentIdentity, ...]

    def copied_paths(self) -> set[str]:
        """The files of which documents here are copies."""
        return {
            step.existing.path
            for step in self.steps
            if step.change is Change.COPY and step.existing
        }


@dataclass(slots=True)
class KnownDocuments:
    """The documents of a collection, and what others hold, while a run changes it."""

    _by_id: dict[str, DocumentIdentity] = field(default_factory=dict)
    _by_digest: dict[str, dict[str, None]] = field(default_factory=dict)  # ids, in order
    _by_path: dict[str, dict[str, None]] = field(default_factory=dict)
    _elsewhere: dict[tuple[str, Occasion], str] = field(default_factory=dict)  # ids by content
    _used: set[str] = field(default_factory=set)  # ids at any time of the run

    @classmethod
    def of(
        cls, documents: Iterable[DocumentIdentity], elsewhere: Iterable[DocumentIdentity] = ()
    ) -> KnownDocuments:
        """These documents, and what is elsewhere.

        Args:
            documents: Of the collection.
            elsewhere: Of the corpus; those of other collections only are known by their content,
                and by their dates, which names of files may have said.
        """
        known = cls()
        for one in documents:
            known.put(one)
        for one in elsewhere:
            if one.id not in known._by_id:
                known._elsewhere.setdefault((one.digest, one.occasion), one.id)
                known._used.add(one.id)
        return known

    def at_path(self, path: str) -> list[DocumentIdentity]:
        """What came from a file."""
        return [self._by_id[id_] for id_ in self._by_path.get(path, ())]

    def put(self, one: DocumentIdentity) -> None:
        """Note a document, in place of the one of the same id."""
        self.discard(one.id)
        self._used.add(one.id)
        self._by_id[one.id] = one
        self._by_digest.setdefault(one.digest, {})[one.id] = None
        self._by_path.setdefault(one.path, {})[one.id] = None

    def discard(self, id_: str) -> None:
        """Forget a document, if it is there."""
        old = self._by_id.pop(id_, None)
        if old is not None:
            del self._by_digest[old.digest][id_]
            del self._by_path[old.path][id_]

    def leave(self, id_: str) -> None:
        """Forget a document of the collection that others keep."""
        old = self._by_id[id_]
        self.discard(id_)
        self._elsewhere.setdefault((old.digest, old.occasion), id_)

    def unused_id(self, id_: str) -> str:
        """The id, or another where a document that has moved away keeps it."""
        while id_ in self._used:
            id_ = hashlib.sha256(id_.encode()).hexdigest()[:12]
        return id_

    def plan(
        self,
        documents: Sequence[Document],  # what the file holds now
        existing: Sequence[DocumentIdentity],  # what the corpus holds from it
        *,
        is_gone: Callable[[str], bool],  # whether a file is no longer where it was
        # whether a file holds something else now, so that what the corpus holds from it is about to
        # go
        outdated: Callable[[str], bool] = lambda _path: False,
    ) -> Plan:
        """What to do with the documents of a file."""
        match = _Matcher(documents, existing)
        match.match_by(Change.NOTHING, lambda one: (one.part, one.title, one.digest, one.occasion))
        match.match_by(Change.RELABEL, lambda one: (one.part, one.digest))
        match.match_by(Change.RELABEL, lambda one: one.digest)
        first: dict[
            str, DocumentIdentity
        ] = {}  # content new to this file, and where its copies find it
        for at, document in match.pending():
            holder = first.get(document.digest)
            if holder is not None:
                match.steps[at] = Step(Change.COPY, document, holder)
                continue
            holder = self._find_copy(document.digest, outdated)
            known = self._elsewhere.get((document.digest, document.occasion))
            if holder is None and known is not None:
                here = identify(document, known)
                match.steps[at] = Step(Change.JOIN, document, here)
                first[document.digest] = here
            elif holder is None:
                first[document.digest] = identify(document, document.id)
            else:
                change = Change.MOVE if is_gone(holder.path) else Change.COPY
                match.steps[at] = Step(change, document, holder)
                first[document.digest] = identify(document, holder.id)
        match.match_by(Change.UPDATE, lambda one: one.part)
        for at, document in match.pending():
            match.steps[at] = Step(Change.ADD, document)
        steps = tuple(match.steps[at] for at in range(len(documents)))
        return Plan(steps, tuple(match.unmatched.values()))

    def _find_copy(self, digest: str, outdated: Callable[[str], bool]) -> DocumentIdentity | None:
        holders = (self._by_id[id_] for id_ in self._by_digest.get(digest, ()))
        return next((one for one in holders if not outdated(one.path)), None)


@dataclass(slots=True)
class _Matcher:
    """The documents of a file against what the corpus holds from it."""

    documents: Sequence[Document]
    unmatched: dict[str, DocumentIdentity]
    steps: dict[int, Step]

    def __init__(self, documents: Sequence[Document], existing: Sequence[DocumentIdentity]) -> None:
        self.documents = documents
        self.unmatched = {one.id: one for one in existing}
        self.steps = {}

    def pending(self) -> list[tuple[int, Document]]:
        """The documents without a step, with their positions."""
        return [(at, one) for at, one in enumerate(self.documents) if at not in self.steps]

    def match_by(
        self, change: Change, key: Callable[[Document | DocumentIdentity], Hashable]
    ) -> None:
        """Give this step to each pending document that equals an unmatched one by a key."""
        by_key = {key(one): one for one in self.unmatched.values()}
        for at, document in self.pending():
            one = by_key.pop(key(document), None)
            if one is not None:
                del self.unmatched[one.id]
                self.steps[at] = Step(change, document, one)


def identify(document: Document, id_: str) -> DocumentIdentity:
    """A document as a run knows it."""
    return DocumentIdentity(
        id_, document.path, document.part, document.title, document.digest, document.occasion
    )
