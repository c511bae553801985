"""The tokens of a text with their offsets, and the special tokens of a window."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from indexing.errors import UnsupportedModel
from indexing.loaders.charset import printable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

IntArray = npt.NDArray[np.int64]

Tokenize = Callable[[str], tuple[Sequence[int], Sequence[tuple[int, int]]]]
"""A text to token ids and their character offsets, without special tokens."""

STRETCH = 1 << 18  # characters given to the tokenizer at once: it takes 160 bytes for each


@dataclass(frozen=True, slots=True)
class Tokens:
    """A model's tokenizer, and the special tokens and prompts that surround a text."""

    tokenize: Tokenize  # what looks like a special token in the text is text to it
    head: tuple[int, ...]  # special tokens before a text
    tail: tuple[int, ...]  # special tokens after it
    for_documents: tuple[int, ...]  # the model's prompt for documents, after the head
    for_queries: tuple[int, ...]  # the model's prompt for queries, after the head

    @classmethod
    def of(cls, model: SentenceTransformer) -> Tokens:
        """Read special tokens off an example and prefixes off the model's prompts.

        Raises:
            UnsupportedModel: The tokenizer gives no character offsets.
        """
        tokenizer = model.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise UnsupportedModel(
                "this encoder's tokenizer gives no character offsets, which citations need; "
                "choose a model with a tokenizer.json"
            )
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        full = tokenizer("a")["input_ids"]
        at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)

        def prefix(*names: str) -> tuple[int, ...]:
            text = next((model.prompts[name] for name in names if model.prompts.get(name)), "")
            if not text:
                return ()
            ids = tokenizer(f"{text}a", add_special_tokens=False)["input_ids"]
            if ids[-len(bare) :] == bare:  # the blank at a prompt's end belongs to what follows
                return tuple(ids[: -len(bare)])
            return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

        return cls(
            tokenize=_tokenize(tokenizer),
            head=tuple(full[:at]),
            tail=tuple(full[at + len(bare) :]),
            for_documents=prefix("document", "passage"),
            for_queries=prefix("query"),
        )

    @property
    def before_document(self) -> int:
        """Tokens before the text of a document."""
        return len(self.head) + len(self.for_documents)

    @property
    def before_query(self) -> int:
        """Tokens before the text of a query."""
        return len(self.head) + len(self.for_queries)

    @property
    def around_document(self) -> int:
        """Tokens around the text of a document."""
        return self.before_document + len(self.tail)

    @property
    def around_query(self) -> int:
        """Tokens around the text of a query."""
        return self.before_query + len(self.tail)

    def ids(self, text: str) -> tuple[IntArray, IntArray]:
        """Token ids (n,) without special tokens, and their character offsets (n, 2).

        No thread waits for long: a text is given to the tokenizer in stretches.
        """
        ids, offsets = [], []
        for start, piece in _stretches(printable(text)):
            numbers, places = self.tokenize(piece)
            ids.append(np.asarray(numbers, np.int64))
            offsets.append(np.asarray(places, np.int64).reshape(-1, 2) + start)
        return np.concatenate(ids), np.concatenate(offsets)

    def document(self, ids: IntArray) -> IntArray:
        """A window of a document with what surrounds it."""
        return np.array([*self.head, *self.for_documents, *ids, *self.tail], np.int64)

    def query(self, ids: IntArray, limit: int) -> IntArray:
        """A query with what surrounds it, cut to so many tokens."""
        window = ids[: limit - self.around_query]
        return np.array([*self.head, *self.for_queries, *window, *self.tail], np.int64)


def _tokenize(tokenizer: Any) -> Tokenize:  # noqa: ANN401 - of transformers
    """A fast tokenizer of transformers, for several threads."""
    turn = threading.Lock()  # it refuses two at once

    def tokenize(text: str) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        with turn:
            encoded = tokenizer(
                text,
                add_special_tokens=False,
                return_offsets_mapping=True,
                split_special_tokens=True,
                verbose=False,
            )
        return encoded["input_ids"], encoded["offset_mapping"]

    return tokenize


def _stretches(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of at most STRETCH characters, with their start; cut before a space if there is one.

    All but very long documents are one piece.
    """
    start = 0
    while len(text) - start > STRETCH:
        space = text.rfind(" ", start + 1, start + STRETCH)
        end = space if space > 0 else start + STRETCH
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def load_tokenizer(folder: Path, *, special_tokens_in_text: bool = True) -> Tokenizer:
    """What tokenizes any text whole: nothing is cut, and nothing padded.

    Args:
        folder: Of a model, with a `tokenizer.json`.
        special_tokens_in_text: Whether "[SEP]" in a text is that token, not five characters.

    Raises:
        Exception: There is no such file, or it is damaged; tokenizers has no error of its own.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = not special_tokens_in_text
    return tokenizer
