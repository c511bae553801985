"""The interface of every method: a frozen dataclass that changes a model inside a `with`.

To add one: a file with a subclass of `Extension` that names the positions it works on and yields
its changes, and a line in `METHODS` and in `WORKS_ON`. The tests go through that table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension.batch import track_batches
from indexing.extension.selftest import PROBE, prove
from indexing.extension.table import refusal
from indexing.nn.architecture import Architecture, Positions, recognise

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer


class Change(ABC):
    """Something that changes how a model encodes, for as long as a `with` lasts.

    Attributes:
        name: What people call it, as in the table of methods.
        works_on: The kinds of positions it is defined for.
    """

    name: ClassVar[str]
    works_on: ClassVar[frozenset[Positions]]

    @contextmanager
    def __call__(self, model: SentenceTransformer) -> Iterator[SentenceTransformer]:
        """Applies the change; leaving the `with`, even by an exception, restores the model.

        Raises:
            UnsupportedModel: The model is of a kind that this is not defined for, or the
                self-test on this architecture failed.
        """
        arch = recognise(model)
        self.check(arch)
        prove(self, model, arch)
        with self.apply(model, arch):
            yield model

    @contextmanager
    def apply(self, model: SentenceTransformer, arch: Architecture) -> Iterator[None]:
        """Applies the change without proving it first."""
        with ExitStack() as stack:
            stack.enter_context(track_batches(arch, max_tokens=self.max_tokens()))
            for change in self.changes(model, arch):
                stack.enter_context(change)
            yield

    def check(self, arch: Architecture) -> None:
        """Raises UnsupportedModel where this is not defined for such a model."""
        if arch.positions not in self.works_on:
            raise UnsupportedModel(refusal(self.name, arch))

    def max_tokens(self) -> int | None:
        """The most tokens a sequence may have on its way into the transformer; None: any number."""
        return None

    @abstractmethod
    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """What to enter, in order."""

    @abstractmethod
    def identity(self) -> Change | None:
        """This method with settings under which it changes no output; None: nothing to prove."""

    @abstractmethod
    def active(self) -> Change | None:
        """This method with settings under which it changes the output of a short text."""


@dataclass(frozen=True, kw_only=True)
class Extension(Change):
    """A way to encode texts longer than the model was made for."""

    max_length: int  # L_t, the most tokens of a text that are read, special tokens included
    # L_o, where the model's own figure is not what it was trained on (e5-mistral: 4096); None takes
    # the model's
    original: int | None = None

    def __post_init__(self) -> None:
        if self.max_length < 1 or (self.original is not None and self.original < 2):
            lengths = f"max_length={self.max_length}, original={self.original}"
            msg = f"a length must be positive, and an original length at least 2: {lengths}"
            raise InvalidRequest(msg)

    @contextmanager
    def apply(self, model: SentenceTransformer, arch: Architecture) -> Iterator[None]:
        """Applies the change, and lets the tokenizer keep `max_length` tokens."""
        from indexing.nn.hooks import sequence_limit

        with sequence_limit(model, self.max_length), super().apply(model, arch):
            yield

    def max_tokens(self) -> int | None:
        """No sequence may be longer than `max_length`."""
        return self.max_length

    def window(self, arch: Architecture) -> int:
        """L_o."""
        return self.original or arch.original

    def stretch(self, arch: Architecture) -> int:
        """How many times longer than before: s = ceil(L_t / L_o)."""
        return -(-self.max_length // self.window(arch))

    def identity(self) -> Self | None:
        """With s = 1."""
        return replace(self, original=PROBE, max_length=PROBE)

    def active(self) -> Self | None:
        """With an original window of four tokens."""
        return replace(self, original=4, max_length=PROBE)
