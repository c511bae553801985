"""Documents in, vectors out, when several workers encode in parallel.

Whoever needs the vectors of documents takes them one by one, in order. Of those that it will need
it tells a little ahead, so that all workers are busy while it waits for the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from indexing.documents import Document, Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument

AHEAD = 4  # documents for each worker: one in the works, others done or waiting
MOST_CHARACTERS = 64_000_000  # of documents that are ahead, whatever their number

MOST_ITEMS = 256  # taken ahead, of which none may need a worker

Item = TypeVar("Item")
Passages = Sequence[Passage]


class DocumentEncoder(Protocol):
    """What makes the vectors of documents: an `Encoder`, or a `Lookahead` over several."""

    fingerprint: Fingerprint

    def encode(
        self,
        documents: Sequence[tuple[Document, Passages]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        """As `Encoder.encode`."""
        ...


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a worker gives back."""

    encoded: EncodedDocument  # the vectors
    tokens: int  # encoded for them, those where windows overlap more than once


@dataclass(frozen=True, slots=True)
class _Expected:
    """A document that somebody will ask for; its encoding, if it has begun."""

    document: Document
    passages: Passages
    wait: Callable[[], Encoding] | None = None


@dataclass
class Lookahead:
    """Encodes documents by several workers, a few of them before they are asked for."""

    fingerprint: Fingerprint  # how the vectors are made, by all workers alike
    # begins to encode a document; what it returns waits for the end
    begin: Callable[[Document, Passages], Callable[[], Encoding]]
    workers: Callable[[], int]  # how many there are now
    _expected: dict[str, _Expected] = field(default_factory=dict)  # by text, in order

    def encode(
        self,
        documents: Sequence[tuple[Document, Passages]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        """As `Encoder.encode`; each document is waited for."""
        results = []
        for document, passages in documents:
            result = self._wait(document, passages)()
            results.append(result.encoded)
            if progress:
                progress(result.tokens)
        return results

    def expect(self, document: Document, passages: Passages) -> None:
        """Say that a document will be asked for; it is begun when its turn comes."""
        self._expected.setdefault(document.text, _Expected(document, passages))
        self._begin_next()

    def forget(self, document: Document) -> None:
        """Say that a document, asked for or not, will not be."""
        self._expected.pop(document.text, None)

    @property
    def has_room(self) -> bool:
        """Whether it is of use to expect another one."""
        return self._fits(self._expected.values())

    def _wait(self, document: Document, passages: Passages) -> Callable[[], Encoding]:
        one = self._expected.pop(document.text, None)
        same = one is not None and _spans(one.passages) == _spans(passages)
        wait = one.wait if one is not None and same else None
        if wait is None:
            wait = self.begin(document, passages)
        self._begin_next()
        return wait

    def _begin_next(self) -> None:
        """Begin what is expected, in order, as far as it may be ahead."""
        running = [one for one in self._expected.values() if one.wait]
        for text, one in self._expected.items():
            if one.wait:
                continue
            if not self._fits(running):
                return
            wait = self.begin(one.document, one.passages)
            running.append(one)
            self._expected[text] = _Expected(one.document, one.passages, wait)

    def _fits(self, others: Iterable[_Expected]) -> bool:
        """Whether another one may be ahead beside these."""
        lengths = [len(one.document.text) for one in others]
        return len(lengths) < AHEAD * self.workers() and sum(lengths) < MOST_CHARACTERS


def take_ahead(
    items: Iterable[Item], expect: Callable[[Item], None], *, has_room: Callable[[], bool]
) -> Iterator[Item]:
    """The items in order, each expected some time before it comes.

    Args:
        items: Taken one by one.
        expect: Called with each as it is taken.
        has_room: Whether to take another before the first of those taken is given.
    """
    pending: list[Item] = []
    for item in items:
        expect(item)
        pending.append(item)
        while pending and not (len(pending) < MOST_ITEMS and has_room()):
            yield pending.pop(0)
    yield from pending


def _spans(passages: Passages) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in passages]
