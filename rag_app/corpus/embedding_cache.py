"""Vectors of texts, kept from question to question.

Questions about one document read the same sentences again and again. An encoder gives a text the
same vector in any company, so a vector that is kept is the one that would be made.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Embed = Callable[[list[str]], Vectors]

KEPT = 50_000  # vectors; 75 MB with 384 dimensions


class Remembering:
    """An `embed` that makes each vector once, for several threads.

    Args:
        embed: Texts to vectors, (n, d) float32, each independent of the others.
        kept: Most vectors to keep; those not asked for the longest go first.
    """

    def __init__(self, embed: Embed, *, kept: int = KEPT) -> None:
        self._embed = embed
        self._kept = kept
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._turn = threading.Lock()

    def __call__(self, texts: list[str]) -> Vectors:
        """The vectors of texts, (n, d) float32, in order."""
        with self._turn:
            found = {text: self._known[text] for text in texts if text in self._known}
            for text in found:
                self._known.move_to_end(text)
        new = [text for text in dict.fromkeys(texts) if text not in found]
        made = self._embed(new)
        found.update(zip(new, made, strict=True))
        with self._turn:
            self._known.update((text, found[text].copy()) for text in new)
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return np.stack([found[text] for text in texts]) if texts else made
