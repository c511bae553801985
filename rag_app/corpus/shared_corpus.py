"""A corpus that several people share: whoever reads it says for whom, or it does not type-check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings
    from indexing.index_report import IndexReport, Progress
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from indexing.scope import Scope
    from rag_app.corpus.contents.collections import CorpusCollections
    from rag_app.corpus.corpus import Corpus


class SharedCorpus(Protocol):
    """What a server may do with a `Corpus` as it is; all reading goes through `seen_by`.

    Each of these does what it does in `Corpus`.
    """

    folder: Path

    def seen_by(self, scope: Scope) -> Corpus: ...  # noqa: D102 - as in `Corpus`, and so the others

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
        among: Collection[Path] | None = None,
    ) -> IndexReport: ...

    def remove(  # noqa: D102
        self, names: Iterable[str | Path], *, collection: str | None = None
    ) -> int: ...

    def waiting(self, seconds: float) -> AbstractContextManager[None]: ...  # noqa: D102

    def merge_in_background(self) -> None: ...  # noqa: D102
