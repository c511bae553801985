"""No extension: the untouched model, cut at a length within its own window."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from indexing.errors import UnsupportedModel
from indexing.extension.method import Extension
from indexing.extension.table import WORKS_ON, refusal
from indexing.nn.architecture import Family

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True)
class NoExtension(Extension):
    """Reads the first `max_length` tokens, which must fit the original window."""

    name: ClassVar[str] = "none"
    works_on = WORKS_ON[name]

    def check(self, family: Family) -> None:
        """Refuses lengths past the original window."""
        super().check(family)
        if self.max_length > self.window(family):
            msg = refusal(f"none with {self.max_length} tokens", family)
            raise UnsupportedModel(f"{msg}; its own window is {self.window(family)} tokens")

    def changes(
        self, model: SentenceTransformer, family: Family
    ) -> Iterable[AbstractContextManager[object]]:
        """Nothing but the tokenizer's limit."""
        return ()

    def idle(self) -> Self | None:
        """Nothing to prove."""
        return None

    def busy(self) -> Self | None:
        """Nothing to prove."""
        return None
