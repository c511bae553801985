"""Which passages a search may return: by document, by path pattern, by speaker."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from indexing.errors import DocumentNotFound
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is limited to; an empty part limits nothing.

    Attributes:
        documents: Ids or titles of documents.
        path: A pattern such as "*/minutes/*.vtt" for the whole path, or for the end of it.
        speaker: Part of a speaker's name, in any case: passages in which they speak.
    """

    documents: tuple[str, ...] = ()
    path: str | None = None
    speaker: str | None = None

    def __bool__(self) -> bool:
        return bool(self.documents or self.path or self.speaker)

    def admits(self, *, id_: str, title: str, path: str) -> bool:
        """Whether a document passes, its speakers aside."""
        if self.documents and id_ not in self.documents and title not in self.documents:
            return False
        pattern = self.path
        return not pattern or fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def allowed(filter_: Filter, store: Store, snapshot: Snapshot) -> npt.NDArray[np.bool_] | None:
    """(passages,) which ones pass; None when all do.

    Raises:
        DocumentNotFound: The filter names a document that is not there.
    """
    if not filter_:
        return None
    rows = store.document_rows()
    names = {name for _, id_, _, _, title, _ in rows for name in (id_, title)}
    for name in filter_.documents:
        if name not in names:
            raise DocumentNotFound(f"{name}: no document has this id or title; see: rag-app list")
    documents = np.array(
        [filter_.admits(id_=id_, title=title, path=path) for _, id_, path, _, title, _ in rows],
        np.bool_,
    )
    mask = documents[snapshot.owner] if len(documents) else np.zeros(0, np.bool_)
    if filter_.speaker:
        spoken = store.passages_spoken_by(filter_.speaker)
        mask &= np.isin(snapshot.passage_rows, spoken)
    return mask
