"""Short changes of a corpus while documents are being added to it."""

from __future__ import annotations

from collections.abc import Callable

from indexing.errors import CorpusLocked
from indexing.message import N_, Message
from rag_app.corpus.access import SharedCorpus

LOCK_TIMEOUT = 5  # seconds to wait for another writer


def patiently(corpus: SharedCorpus, change: Callable[[], object], failure: Message) -> None:
    """Make a change as soon as nobody else writes.

    The failure says what could not be done, in case that takes longer than `LOCK_TIMEOUT`.

    Raises:
        CorpusLocked: It does.
    """
    try:
        with corpus.waiting(LOCK_TIMEOUT):
            change()
    except CorpusLocked as error:
        raise CorpusLocked(
            N_("%(failure)s while documents are being added; try again later", failure=failure)
        ) from error
