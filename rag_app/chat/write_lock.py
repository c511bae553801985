"""Short changes of a corpus while documents are being added to it."""

from __future__ import annotations

import time
from collections.abc import Callable

from indexing.errors import CorpusLocked

LOCK_TIMEOUT = 5  # seconds to wait for another writer


def patiently(change: Callable[[], object], failure: str) -> None:
    """Make a change as soon as nobody else writes.

    Args:
        change: What to do.
        failure: What could not be done, in case that takes longer than `LOCK_TIMEOUT`.

    Raises:
        CorpusLocked: It does.
    """
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            change()
            return
        except CorpusLocked as error:
            if time.monotonic() > deadline:
                raise CorpusLocked(
                    f"{failure} while documents are being added; try again later"
                ) from error
            time.sleep(0.2)
