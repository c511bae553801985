"""No extension: the untouched model, cut at a length within its own window."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from indexing.errors import UnsupportedModel
from indexing.extension.method import Extension
from indexing.extension.table import WORKS_ON, refusal
from indexing.nn.architecture import Architecture

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True)
class NoExtension(Extension):
    """Reads the first `max_length` tokens, which must fit the original window."""

    name: ClassVar[str] = "none"
    works_on = WORKS_ON[name]

    def check(self, arch: Architecture) -> None:
        """Refuses lengths past the original window."""
        super().check(arch)
        if self.max_length > self.window(arch):
            msg = refusal(f"none with {self.max_length} tokens", arch)
            raise UnsupportedModel(f"{msg}; its own window is {self.window(arch)} tokens")

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Nothing but the tokenizer's limit."""
        return ()

    def identity(self) -> Self | None:
        """Nothing to prove."""
        return None

    def active(self) -> Self | None:
        """Nothing to prove."""
        return None
