"""Needles in the person's own documents, measured from the page: one run at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from indexing.errors import RagAppError
from rag_app.chat import view

if TYPE_CHECKING:
    from rag_app.corpus import Corpus
    from rag_app.evaluation.needle import NeedleReport

LOOK = 0.5


class Measuring:
    """Runs the needle benchmark on a corpus.

    Args:
        corpus: Whose documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._lock = threading.Lock()
        self._said, self._shown = "", ""

    def shown(self) -> str:
        """The latest report as HTML, or what went wrong."""
        return self._shown

    async def run(self, each: int, extensions: Sequence[str]) -> AsyncIterator[str]:
        """Measure; yields what is being done. Whoever comes while a run goes on, watches that."""
        if self._lock.acquire(blocking=False):
            self._said, self._shown = "Planting facts", ""
            args = (min(max(each, 1), 8), [one for one in ("pcw", "none") if one in extensions])
            threading.Thread(target=self._measure, args=args, name="needles", daemon=True).start()
        while self._lock.locked():
            yield f"{self._said} … this takes minutes; questions go on meanwhile."
            await asyncio.sleep(LOOK)

    def _measure(self, each: int, extensions: Sequence[str]) -> None:
        try:
            self._shown = view.needles(self._report(each, extensions))
        except RagAppError as error:
            self._shown = view.notice(str(error), kind="error")
        except Exception as error:
            said = f"failed unexpectedly ({type(error).__name__}: {error})"
            self._shown = view.notice(said, kind="error")
        finally:
            self._lock.release()

    def _report(self, each: int, extensions: Sequence[str]) -> NeedleReport:
        from rag_app.evaluation import needle

        def notify(line: str) -> None:
            self._said = line

        return needle.evaluate(
            self._corpus.folder,
            needle.Grid(each=each),
            compared=needle.combined(extensions or ("pcw",)),
            notify=notify,
        )
