"""Segments in, one segment out: without the texts, in memory that does not grow with them.

By tiers, as Lucene and RocksDB do: segments of about a size are merged as soon as there are FACTOR
of them, so that a passage is written once a tier, and there are few segments at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from indexing.index.dense.faiss_index import FLAT_BELOW, FaissIndex
from indexing.index.lexical.bm25_builder import (
    IN_MEMORY,
    SAMPLE_EVERY,
    Block,
    empty_vectors,
    merged,
    to_mmap,
)
from indexing.index.lexical.postings import Postings
from indexing.index.places import Places
from indexing.index.segment import Segment, vector_index
from indexing.index.snapshot import Part, Snapshot
from indexing.text.vocabulary import Lexicon, pair_keys

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

FACTOR = 8  # segments of a tier that are merged
SMALLEST = 512  # passages up to which segments are of the lowest tier
OUTDATED = 0.3  # share of a segment from which it is written again

AT_ONCE = FLAT_BELOW  # passages up to which a merge is no matter of minutes

Dead = Sequence[int]
Held = Mapping[int, tuple[int, int]]
"""Passages of each segment, and how many of them are outdated, by the segment's number."""


class Interrupted(Exception):
    """A merge that was not wanted any more; nothing has changed."""


def due(held: Held, *, most: int | None = None) -> list[int]:
    """Numbers of the segments that are to be merged now; none where nothing is due.

    Args:
        held: What there is.
        most: Passages of a merge that need not wait, unless there are twice as many segments, or
            twice as much is outdated; None for any number.
    """
    tiers: dict[int, list[int]] = {}
    for number, (size, dead) in sorted(held.items()):
        tiers.setdefault(_tier(size - dead), []).append(number)
    shares = {number: dead / max(size, 1) for number, (size, dead) in sorted(held.items())}
    found = [
        ([number], share > 2 * OUTDATED) for number, share in shares.items() if share > OUTDATED
    ]
    full = [tiers[tier] for tier in sorted(tiers) if len(tiers[tier]) >= FACTOR]
    found += [(numbers, len(numbers) >= 2 * FACTOR) for numbers in full]
    for numbers, pressing in found:
        if pressing or most is None or sum(held[number][0] for number in numbers) <= most:
            return numbers
    return []


def all_of_them(held: Held) -> list[int]:
    """Every segment, unless one holds all and nothing else."""
    return [] if len(held) == 1 and not any(dead for _, dead in held.values()) else [*held]


def later(held: Held, *, than: int) -> list[int]:
    """Several segments with higher numbers, the smallest ones, that are merged at once."""
    sizes = sorted((size, number) for number, (size, _) in held.items() if number > than)
    sums = accumulate(size for size, _ in sizes)
    few = [number for (_, number), total in zip(sizes, sums, strict=True) if total <= AT_ONCE]
    return few if len(few) > 1 else []


def merge(
    # each with the rows of documents that are outdated in it
    segments: Sequence[tuple[Segment, Dead]],
    *,
    exact: bool,  # whether all vectors are compared, however many
    # asked between the steps, each of which is a matter of a second
    wanted: Callable[[], bool] = lambda: True,
) -> Segment | None:
    """One segment of what is not outdated in several; None where nothing is.

    Stems keep the numbers of the largest segment, so that its postings stay in order.

    Raises:
        Interrupted: It was not wanted any more.
    """

    def require_wanted() -> None:
        if not wanted():
            raise Interrupted

    def vectors(kind: str) -> FaissIndex:
        moved = _vectors(parts, kind, require_wanted)
        return vector_index(moved, exact=exact, step=require_wanted)

    def postings(name: str) -> Postings:
        require_wanted()
        return _postings(parts, numbers, name, require_wanted)

    order = sorted(segments, key=lambda pair: -pair[0].passages)
    whole = Snapshot.of(order)
    if not len(whole.document_rows):
        return None
    parts = whole.parts
    names = ((part, name) for part in parts for name in part.segment.speakers.names)
    speakers = {name for part, name in names if part.has_speaker(name)}
    lexicon, numbers = _lexicon([part.segment.lexicon for part in parts])
    language = np.zeros(len(whole.document_rows), np.uint8)
    for part in parts:
        codes = np.array([lexicon.languages.index(c) for c in part.segment.lexicon.languages])
        if len(codes):
            own = part.documents.kept(codes[part.segment.language])
            language[part.documents.where] = own
    return Segment(
        document_rows=whole.document_rows,
        passage_rows=whole.passage_rows,
        bounds=whole.bounds,
        language=language,
        document_vectors=vectors("document"),
        passage_vectors=vectors("passage"),
        lexicon=lexicon,
        postings={name: postings(name) for name in parts[0].segment.postings},
        speakers=whole.speakers(sorted(speakers)),
    )


def passages_held(segments: Mapping[int, tuple[Segment, Dead]]) -> Held:
    """Passages of each segment, and how many of them are outdated, by number."""
    held = {}
    for number, (one, dead) in segments.items():
        gone = np.isin(one.document_rows, dead) if len(dead) else np.zeros(0, np.bool_)
        lost = int(np.diff(one.bounds)[gone].sum()) if gone.any() else 0
        held[number] = one.passages, lost
    return held


def _tier(passages: int) -> int:
    """0 for the smallest, one more for FACTOR times the size."""
    tier = 0
    while passages > SMALLEST:
        passages, tier = passages // FACTOR, tier + 1
    return tier


def _lexicon(lexicons: Sequence[Lexicon]) -> tuple[Lexicon, list[IntArray]]:
    """One lexicon, and what it calls the stems of each."""
    stems: dict[str, int] = {}
    numbers = [
        np.array([stems.setdefault(stem, len(stems)) for stem in one.stems], np.int64)
        for one in lexicons
    ]
    languages = dict.fromkeys(code for one in lexicons for code in one.languages)
    return Lexicon(list(stems), list(languages)), numbers


def _vectors(parts: Sequence[Part], kind: str, step: Callable[[], None]) -> FloatArray:
    """(n, d) in the new order, in a file where there are many."""
    places = [getattr(part, f"{kind}s") for part in parts]
    indexes = [getattr(part.segment, f"{kind}_vectors") for part in parts]
    count = sum(one.live_count for one in places)
    vectors = empty_vectors(count, indexes[0].vectors.shape[1], in_memory=count < FLAT_BELOW)
    for index, place in zip(indexes, places, strict=True):
        for start in range(0, place.count, FLAT_BELOW):
            step()
            units = np.arange(start, min(start + FLAT_BELOW, place.count), dtype=np.int32)
            to = place.at(units)
            vectors[to[to >= 0]] = index.vectors[units[to >= 0]]
    return vectors


def _postings(
    parts: Sequence[Part], numbers: Sequence[IntArray], name: str, step: Callable[[], None]
) -> Postings:
    """The postings of all parts, some terms at a time."""
    lengths = np.zeros(sum(part.places(name).live_count for part in parts), np.float32)
    for part in parts:
        places = part.places(name)
        lengths[places.where] = places.kept(part.segment.postings[name].lengths)
    blocks = [_MovedBlock.of(p, own, name) for p, own in zip(parts, numbers, strict=True)]
    return merged(blocks, lengths, step=step)


@dataclass(frozen=True, slots=True)
class _MovedBlock:
    """The postings of a segment under other keys, their units at other positions."""

    postings: Postings  # as the segment has them
    places: Places  # where its units stand
    terms: IntArray  # (terms,) other keys, ascending
    # (terms,) which of the segment's terms each is; None where these are in order
    order: IntArray | None
    bounds: IntArray  # (terms + 1,) where the postings of each begin, in this order

    @classmethod
    def of(cls, part: Part, numbers: IntArray, name: str) -> _MovedBlock:
        """Of a part; `numbers` are what its stems are called now."""
        postings, places = part.segment.postings[name], part.places(name)
        if np.array_equal(numbers, np.arange(len(numbers))):
            return cls(postings, places, postings.keys, None, postings.bounds)
        keys = postings.keys
        if name.endswith("_pairs"):
            keys = pair_keys(numbers[keys >> 31], numbers[keys & ((1 << 31) - 1)])
        else:
            keys = numbers[keys]
        order = np.argsort(keys, kind="stable")
        bounds = np.append(0, np.cumsum(np.diff(postings.bounds)[order])).astype(np.int64)
        kept = (keys[order], order, bounds)
        if len(keys) > IN_MEMORY // 16:
            kept = (to_mmap(kept[0]), to_mmap(kept[1]), to_mmap(kept[2]))
        return cls(postings, places, *kept)

    @property
    def size(self) -> int:
        """Postings, those of what is outdated too."""
        return len(self.postings.units)

    def slice_terms(self, low: int, high: int) -> Block:
        """The postings of the terms from `low` on, and below `high`, that are not outdated."""
        first, last = np.searchsorted(self.terms, (low, high))
        bounds = np.asarray(self.bounds[first : last + 1])
        if self.order is None:
            rows: slice | IntArray = slice(int(bounds[0]), int(bounds[-1]))
        else:
            starts = self.postings.bounds[self.order[first:last]]
            rows = np.repeat(starts - bounds[:-1], np.diff(bounds)) + np.arange(
                bounds[0], bounds[-1]
            )
        units, counts = self.places.at(self.postings.units[rows]), self.postings.counts[rows]
        terms, sizes, alive = np.asarray(self.terms[first:last]), np.diff(bounds), units >= 0
        if not alive.all():
            owner = np.repeat(np.arange(len(terms)), sizes)[alive]
            sizes = np.bincount(owner, minlength=len(terms))
            units, counts, terms = units[alive], counts[alive], terms[sizes > 0]
            sizes = sizes[sizes > 0]
        bounds = np.append(0, np.cumsum(sizes)).astype(np.int64)
        return Block(terms, bounds, units.astype(np.int32), np.asarray(counts))

    def sample_terms(self) -> IntArray:
        """The terms of every SAMPLE_EVERY-th posting."""
        at = np.arange(0, self.size, SAMPLE_EVERY)
        return np.asarray(self.terms[np.searchsorted(self.bounds, at, side="right") - 1])
