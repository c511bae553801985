"""The progress of an indexing run, and its result."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from indexing.walk import Failure


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes:
        done: Bytes of files dealt with.
        total: Bytes of all files.
        tokens: Tokens encoded so far.
        path: The file in hand.
        picture: Which of its pictures OCR reads, from 1; 0 for none.
        pictures: How many it has to read there.
        workers: How many encode on a cluster; 0 where this process does.
    """

    done: float
    total: float
    tokens: int
    path: str
    picture: int = 0
    pictures: int = 0
    workers: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did.

    Attributes:
        added: Ids of documents that are new to the collection.
        reused: Those of them that another collection held, so that they were not encoded again.
        updated: Ids of documents whose content had changed.
        unchanged: How many documents were up to date.
        moved: Ids of documents whose file or title is another now.
        removed: Ids of documents that a file no longer holds.
        duplicates: Files whose content is in the collection already, and why they were left out.
        failures: Files that gave no document, with reason and remedy.
        unread: What files hold beside the text that was read, such as scanned pages.
        skipped: Files of other kinds in the folders, by suffix.
        tokens: Tokens encoded.
        recognised: How much of files OCR has read, and how surely, by path.
    """

    added: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: int = 0
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    duplicates: tuple[Failure, ...] = ()
    failures: tuple[Failure, ...] = ()
    unread: tuple[Failure, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    recognised: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ReportDraft:
    """An IndexReport in the making.

    Attributes, beside those of the report:
        done: Bytes of files dealt with.
        total: Bytes of all files.
    """

    added: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    moved: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    duplicates: list[Failure] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unread: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    recognised: dict[str, str] = field(default_factory=dict)
    done: float = 0
    total: float = 0

    def report(self) -> IndexReport:
        """As far as it has come."""
        return IndexReport(
            tuple(self.added),
            tuple(self.reused),
            tuple(self.updated),
            self.unchanged,
            tuple(self.moved),
            tuple(self.removed),
            tuple(self.duplicates),
            tuple(self.failures),
            tuple(self.unread),
            dict(self.skipped),
            self.tokens,
            dict(self.recognised),
        )
