"""Pictures of a PDF's pages, drawn one by one when they are looked at, and kept for a while."""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, cast

from cachetools import LRUCache, cachedmethod

from indexing.errors import UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders.process import LoaderProcess
from indexing.message import N_
from rag_app.chat.viewer.original import Original

WIDTHS = (700, 1400, 2100)  # pixels; a browser takes the one that its screen needs
KEPT = 64 * MIB  # of pictures
LIMITS = FileLimits(seconds=30, memory=1024 * MIB)  # of one page
Box = tuple[float, float, float, float]


class PagePictures:
    """Draws pages in a process of its own: a PDF is hostile, here as where it is read."""

    def __init__(self) -> None:
        self._process = LoaderProcess(LIMITS)
        self._pictures: LRUCache[object, bytes] = LRUCache(KEPT, getsizeof=len)
        self._sizes: LRUCache[object, list[tuple[float, float]]] = LRUCache(64)
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the process; drawing another page starts one again."""
        self._process.close()

    @cachedmethod(attrgetter("_sizes"), lock=attrgetter("_lock"))
    def sizes(self, original: Original) -> list[tuple[float, float]]:
        """Width and height of each page in points.

        Raises:
            UnreadableFile: It cannot be drawn, or not within the limits.
        """
        sizes = self._ask(original, {"of": "sizes"})["sizes"]
        return [(float(width), float(height)) for width, height in sizes]

    def picture(self, original: Original, page: int, width: int) -> bytes:
        """A page as JPEG, at the next of `WIDTHS`. Errors as in `sizes`."""
        nearest = next((each for each in WIDTHS if each >= width), WIDTHS[-1])
        return self._drawn(original, page, nearest)

    @cachedmethod(attrgetter("_pictures"), lock=attrgetter("_lock"))
    def _drawn(self, original: Original, page: int, width: int) -> bytes:
        reply = self._ask(original, {"of": "picture", "page": page, "width": width})
        return base64.b64decode(reply["picture"])

    def boxes(self, original: Original, page: int, text: str, start: int, end: int) -> list[Box]:
        """Where a span of a page's text stands on it, a box a line; none unless that is certain."""
        if len(text) > MIB // 8:  # no page that people read
            return []
        span: dict[str, str | int] = {"text": text, "start": start, "end": end}
        reply = self._ask(original, {"of": "boxes", "page": page, **span})
        return cast("list[Box]", [tuple(each) for each in reply["boxes"]])

    def _ask(self, original: Original, request: Mapping[str, str | int]) -> dict[str, Any]:
        assert original.path is not None
        reply = self._process.pages(original.path, request)
        if not original.is_unchanged:
            raise UnreadableFile(original.path, N_("has changed"), N_("open the document again"))
        return reply
