"""Pictures of pages into text while a file is read; stored results are reused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from indexing import ocr
from indexing.errors import InvalidRequest, MissingDependency
from indexing.message import N_
from indexing.ocr.reading import OFF, Engine, OcrSettings, PictureReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image


class Recognition:
    """An engine, loaded with the first page, and the way to what is kept."""

    def __init__(
        self,
        settings: OcrSettings,  # of the engine
        *,
        # sends a message to the process that waits, and gives its answer
        ask: Callable[[dict[str, Any]], Any],
        tell: Callable[[dict[str, Any]], None],  # sends one that has none
        # called with the seconds of CPU time that a page may take, and with None after it
        limit: Callable[[int | None], None],
    ) -> None:
        self.settings = settings
        self._ask, self._tell, self._limit = ask, tell, limit
        self._engine: Engine | None = None

    def remedy(self) -> str:
        """What to do so that pages can be read; "" if they can."""
        if self.settings.engine == OFF:
            return N_("allow it with --ocr auto")
        try:
            self._engine = self._engine or ocr.engine(self.settings)
        except MissingDependency as error:
            return N_("run: %(install)s, then index it again with --recheck", install=error.install)
        except InvalidRequest as error:
            return str(error)
        return ""

    def read(self, picture: Image, *, page: int, of: int) -> PictureReading:
        """A page, by its number and the number of pages that are read; `remedy` says it can be.

        A page that has ended the process before is not tried again: its reading says why.
        """
        assert self._engine is not None, "remedy() comes first"
        key = _key(self._engine.name, picture)
        stored = self._ask({"asks": key, "page": page, "of": of})
        if stored is not None:
            return PictureReading.unpack(stored)
        self._limit(self.settings.seconds)
        reading = PictureReading(tuple(self._engine.read(picture)), self._engine.name)
        self._limit(None)
        self._tell({"keeps": key, "reading": reading.pack()})
        return reading


def _key(engine: str, picture: Image) -> str:
    """Another one for each picture and each way of reading it."""
    digest = hashlib.sha256(f"{engine} {picture.mode} {picture.size} ".encode())
    digest.update(picture.tobytes())
    return digest.hexdigest()


_CURRENT: ContextVar[Recognition | None] = ContextVar("recognition", default=None)


def current() -> Recognition | None:
    """That of the file in hand; None where no pictures are read."""
    return _CURRENT.get()


@contextmanager
def recognising(recognition: Recognition) -> Iterator[None]:
    """Loaders called within read pictures with it."""
    token = _CURRENT.set(recognition)
    try:
        yield
    finally:
        _CURRENT.reset(token)
