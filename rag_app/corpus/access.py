"""Which documents and collections a person may see, and which they may change.

A person is a login name; None stands for the owner of this machine, who may do everything. What
they may see is a `Scope`: `corpus.seen_by(scope)` is the corpus as they see it.

- A collection is read by its owner, by everybody if it is shared, and by everybody if it has no
  owner. It is changed by its owner, or by everybody if it has none.
- A document is seen by whoever may read a collection that holds it.
- It is changed, which means removed from a collection, by whoever may change that collection; the
  others keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Collection as Items
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from indexing.errors import CollectionNotFound, CorpusNotFound
from indexing.filter import Filter, Scope
from indexing.store.collections import Collection

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings
    from indexing.index_report import IndexReport, Progress
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.contents.collections import CorpusCollections
    from rag_app.corpus.reader import CorpusReader
    from rag_app.corpus.watching.standing_questions import StandingQuestions


class SharedCorpus(Protocol):
    """What a server may do with a `Corpus` as it is; all reading goes through `seen_by`.

    Each of these does what it does in `Corpus`.
    """

    folder: Path

    def seen_by(self, scope: Scope) -> CorpusReader: ...  # noqa: D102 - as in `Corpus`, and so the others

    @property
    def revision(self) -> str: ...  # noqa: D102

    @property
    def collections(self) -> CorpusCollections: ...  # noqa: D102

    @property
    def limits(self) -> FileLimits: ...  # noqa: D102

    @property
    def ocr(self) -> OcrSettings: ...  # noqa: D102

    @property
    def generator_settings(self) -> GeneratorSettings: ...  # noqa: D102

    def use_generator(  # noqa: D102
        self, settings: GeneratorSettings, *, key: str | None = None
    ) -> None: ...

    def add(  # noqa: D102
        self,
        paths: Iterable[str | Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        collection: str = ...,
        owner: str | None = None,
        among: Items[Path] | None = None,
    ) -> IndexReport: ...

    def remove(  # noqa: D102
        self, names: Iterable[str | Path], *, collection: str | None = None
    ) -> int: ...

    def standing(  # noqa: D102
        self, *questions: str, where: Filter | None = None, reader: Scope, name: str = ""
    ) -> StandingQuestions: ...

    def waiting(self, seconds: float) -> AbstractContextManager[None]: ...  # noqa: D102

    def merge_in_background(self) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Removal:
    """What a person can do when they want a document gone."""

    leaves: tuple[Collection, ...]  # the collections that they may take it out of
    # the names of those that they may read, and that hold it all the same
    keeps: tuple[Collection, ...]
    others: int  # how many more hold it, which they may not know of

    @property
    def removes(self) -> bool:
        """Whether the document leaves the corpus by it."""
        return bool(self.leaves) and not self.keeps and not self.others


@dataclass(frozen=True, slots=True)
class Access:
    """What one person may see and change in a corpus.

    Attributes:
        corpus: The documents and collections.
        person: A login name; None may do everything.
    """

    corpus: SharedCorpus
    person: str | None

    @property
    def seen(self) -> CorpusReader:
        """The corpus as they see it."""
        return self.corpus.seen_by(Scope(self.person))

    def collections(self) -> list[Collection]:
        """The collections that they may read; none if there is no corpus yet."""
        try:
            return self.seen.collections.all()
        except CorpusNotFound:
            return []

    def visible(self) -> frozenset[str]:
        """Ids of the documents that they may see; none if there is no corpus yet."""
        try:
            return frozenset(one.id for one in self.seen.documents())
        except CorpusNotFound:
            return frozenset()

    def may_change(self, document: str) -> bool:
        """Whether they may take a document, by id, out of a collection that holds it."""
        holding = self.corpus.collections.holding(document)
        return any(one.changeable_by(self.person) for one in holding)

    def may_change_collection(self, name: str) -> bool:
        """Whether they may add to a collection, and remove, rename, share and delete it."""
        try:
            return self.corpus.collections.named(name).changeable_by(self.person)
        except CollectionNotFound:
            return False

    def removal(self, document: str) -> Removal:
        """Whom it concerns if they want a document, by id, gone."""
        holding = self.corpus.collections.holding(document)
        leaves = [one for one in holding if one.changeable_by(self.person)]
        rest = [one for one in holding if one not in leaves]
        keeps = [one for one in rest if one.readable_by(Scope(self.person))]
        return Removal(tuple(leaves), tuple(keeps), len(rest) - len(keeps))

    def remove(self, document: str) -> Removal:
        """Take a document, by id, out of every collection that they may change."""
        removal = self.removal(document)
        for one in removal.leaves:
            self.corpus.remove([document], collection=one.name)
        return removal
