"""Every place where documents say what is asked for: caught by two searches, then read.

Each search catches `DEPTH` passages; while those that were caught last are still often asked for,
it goes on, twice as deep each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from generator.evidence import Lookup, Span
from generator.instances.instances import Instances, instances
from generator.instances.places import Passage, Place
from indexing.documents import Document, Hit
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.message import N_

DEPTH, DEEPEST = 40, 320
"""Passages that each search catches, at first and at most."""
DOCUMENTS = 100
"""Documents that each search looks in."""
_GOES_ON = 0.25  # mean probability of the passages read last, from which it goes on

Judge = Callable[[Sequence[Passage]], list[Place | None]]

PAGE = 20
"""Places of a page, unless a request says otherwise."""


@dataclass(frozen=True, slots=True)
class EveryRequest:
    """What is asked for, and which page of the places.

    Raises:
        InvalidRequest: The question is empty, or a number is out of range.
    """

    question: str  # what is asked for: a question, or "every time the budget was discussed"
    start: int = 0  # how many places to leave out
    page: int = PAGE  # how many to show at most
    where: Filter = field(default_factory=Filter)  # limits of what is searched

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise InvalidRequest(N_("the question is empty; ask something"))
        if self.start < 0 or self.page < 1:
            raise InvalidRequest("leave out no fewer than 0 places, and show at least 1")


def every(
    request: EveryRequest,
    catches: Mapping[str, Sequence[Hit]],
    lookup: Lookup,
    judge: Judge,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Instances:
    """The places of a page, from the passages of two searches.

    Args:
        request: What is asked for.
        catches: What each of `CATCHES` found, `DEEPEST` passages of a document at most.
        lookup: Gives a document by its id.
        judge: Reads passages of a document, as `places` does for a question.
        progress: Called with passages read, and how many there are to read so far.
    """
    ranked = {name: _ranked(hits) for name, hits in catches.items()}
    read_so_far: dict[_At, Place | None] = {}
    depth, yielded = DEPTH, 1.0
    while yielded >= _GOES_ON:
        caught = {name: {*best[:depth]} for name, best in ranked.items()}
        new = sorted(set[_At]().union(*caught.values()) - read_so_far.keys())
        total = len(read_so_far) + len(new)
        for id_, group in groupby(new, key=lambda at: at[0]):
            document, of_document = lookup(id_), list(group)
            passages = [(*_spans(document, at, request.where.speaker),) for at in of_document]
            found = judge(passages)
            read_so_far |= zip(of_document, found, strict=True)
            if progress:
                progress(len(read_so_far), total)
        last = [one.probability for at in new if (one := read_so_far[at])]
        yielded = sum(last) / len(last) if last and depth < DEEPEST else 0.0
        depth *= 2
    every_place = [
        replace(one, both=all(at in best for best in caught.values()))
        for at, one in read_so_far.items()
        if one
    ]
    return instances(request.question, every_place, start=request.start, page=request.page)


_At = tuple[str, int, int]
"""A passage: its document, its first character and one past the last."""


def _ranked(hits: Sequence[Hit]) -> list[_At]:
    """The passages that match better than most, best first."""
    every = [(hit.document, one) for hit in hits for one in hit.passages if one.score >= 0]
    every.sort(key=lambda pair: -pair[1].score)
    return [(document, one.start, one.end) for document, one in every]


def _spans(document: Document, at: _At, speaker: str | None) -> Iterator[Span]:
    """A passage; of a speaker, what they say in it."""
    _, start, end = at
    if speaker is None:
        yield Span(document, start, end, 0.0)
        return
    for said in document.spoken_by(speaker, start, end):
        yield Span(document, said.start, said.end, 0.0)
