"""Everything a search needs beside the store: the segments of a corpus at one moment, as one.

What is outdated in a segment is left out, and documents stand in the order of their rows, in
whatever segments they are. So a search sees the same as in a corpus that was indexed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexing.cached_property import cached_property
from indexing.documents import is_named
from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.dense.vectors import Vectors
from indexing.index.lexical.bm25 import Bm25Index
from indexing.index.padding import Padding
from indexing.index.places import Places
from indexing.index.sample import Sample
from indexing.index.segment import POSTINGS, Segment
from indexing.index.speakers import Speakers
from indexing.store.view import StoreView

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """A segment in a snapshot."""

    segment: Segment  # what it holds
    documents: Places  # where its documents stand
    passages: Places  # where its passages stand

    def places(self, name: str) -> Places:
        """Of the units of postings, by their name."""
        return self.passages if name.startswith("passage") else self.documents

    def total_length(self, name: str) -> int:
        """Terms in all units of postings, by their name."""
        postings, places = self.segment.postings[name], self.places(name)
        if places.live is None:
            return postings.total_length
        return int(places.kept(postings.lengths).sum(dtype=np.float64))

    def known(self, among: frozenset[str], *, remembered: bool = False) -> frozenset[str]:
        """Those of some stems that a document has which is not outdated.

        Args:
            among: The stems.
            remembered: Whether they are asked for of each snapshot: where nothing of the segment is
                outdated, it is looked up once.
        """
        if self.documents.live is None and remembered:
            known = self.segment.known
            if among not in known:
                known[among] = self.known(among)
            return known[among]
        lexicon, live = self.segment.lexicon, self.documents.live
        stems = [*lexicon.known(among)]
        numbers = np.array([lexicon.number(stem) for stem in stems], np.int64)
        held = np.zeros(len(stems), np.bool_)
        for name in ("documents", "function_words"):
            postings = self.segment.postings[name]
            spans = postings.spans(numbers)
            here = spans[:, 1] > spans[:, 0]
            if live is not None:
                for at in np.flatnonzero(here & ~held):
                    units = postings.units[slice(*spans[at])]
                    here[at] = live[units[:64]].any() or live[units].any()
            held |= here
        return frozenset(stem for stem, one in zip(stems, held.tolist(), strict=True) if one)

    def has_speaker(self, name: str) -> bool:
        """Whether somebody speaks in a passage that is not outdated."""
        units, _ = self.segment.speakers.passages_of(name)
        live = self.passages.live
        return bool(len(units)) if live is None else bool(live[units].any())


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A corpus at one moment, ready to be searched. Passages stand in document order."""

    parts: tuple[Part, ...]  # its segments
    document_rows: IntArray  # (documents,) int64 row numbers in the store, ascending
    bounds: IntArray  # (documents + 1,) int64 where the passages of each document begin
    document_vectors: Vectors  # of (documents, d)
    passage_vectors: Vectors  # of (passages, d)
    # the sample of an earlier one, as far as that is of these documents
    earlier: Sample | None = None

    @classmethod
    def of(
        cls,
        # no document is in two, but for where it is outdated
        segments: Iterable[tuple[Segment, Sequence[int]]],
        *,
        exact: bool = False,  # whether all vectors are compared, however many
        # an earlier one of the same corpus, of which what is still so is kept
        before: Snapshot | None = None,
    ) -> Snapshot:
        """Of segments, each with the rows of documents that are outdated in it."""
        pairs = list(segments)
        own = [
            ~np.isin(one.document_rows, dead) if len(dead) else np.ones(one.documents, np.bool_)
            for one, dead in pairs
        ]
        rows = _joined([one.document_rows[live] for (one, _), live in zip(pairs, own, strict=True)])
        lengths = _joined(
            [np.diff(one.bounds)[live] for (one, _), live in zip(pairs, own, strict=True)]
        )
        order = np.argsort(rows, kind="stable")
        bounds = np.append(0, np.cumsum(lengths[order])).astype(np.int64)
        position = np.empty(len(rows), np.int64)
        position[order] = np.arange(len(rows))
        parts, start = [], 0
        for (segment, _), live in zip(pairs, own, strict=True):
            documents = np.full(segment.documents, -1, np.int64)
            end = start + int(live.sum())
            documents[live], start = position[start:end], end
            places = Places.of(documents), _passages(segment, documents, bounds)
            parts.append(Part(segment, *places))
        return cls(
            tuple(parts),
            rows[order],
            bounds,
            _vectors([(one.segment.document_vectors, one.documents) for one in parts], exact),
            _vectors([(one.segment.passage_vectors, one.passages) for one in parts], exact),
            None if before is None else before._moved_sample(pairs, rows[order], bounds),
        )

    def _moved_sample(
        self, segments: Sequence[tuple[Segment, Sequence[int]]], rows: IntArray, bounds: IntArray
    ) -> Sample | None:
        """The sample, if it is made and all its documents are in these segments as they were."""
        sample: Sample | None = self.__dict__.get("sample", self.earlier)
        now = {id(one) for one, _ in segments}
        if sample is None or not now.issuperset(id(part.segment) for part in self.parts):
            return None
        own = self.document_rows[sample.selection.documents]
        if any(len(dead) and np.isin(own, dead).any() for _, dead in segments):
            return None
        return sample.moved(np.searchsorted(rows, own), bounds)

    @classmethod
    def build(cls, store: StoreView, *, exact: bool = False) -> Snapshot:
        """Of one segment that is made of a whole store."""
        segments = [] if store.is_empty else [(Segment.build(store, exact=exact), ())]
        return cls.of(segments, exact=exact)

    def on(self, device: str) -> Snapshot:
        """The same, whose vectors are compared on a device, as torch calls it.

        Raises:
            CorpusError: There is no such device, or it has no room.
        """
        return replace(
            self,
            document_vectors=self.document_vectors.on(device),
            passage_vectors=self.passage_vectors.on(device),
        )

    @property
    def passages(self) -> int:
        """How many there are."""
        return int(self.bounds[-1])

    @cached_property
    def passage_rows(self) -> IntArray:
        """(passages,) row numbers in the store."""
        return self.rows_of_passages(np.arange(self.passages))

    def rows_of_passages(self, positions: IntArray) -> IntArray:
        """(p,) row numbers in the store of passages (p,) by position."""
        rows = np.empty(len(positions), np.int64)
        for part in self.parts:
            here, units = part.passages.among(positions)
            rows[here] = part.segment.passage_rows[units]
        return rows

    @cached_property
    def owner(self) -> IntArray:
        """(passages,) position of each passage's document."""
        return np.repeat(np.arange(len(self.document_rows)), np.diff(self.bounds))

    @property
    def first_passages(self) -> IntArray:
        """(documents,) position of each document's first passage."""
        return self.bounds[:-1]

    def spoken_by(self, speaker: str) -> npt.NDArray[np.bool_]:
        """(passages,) in which somebody speaks whose name holds these words (`is_named`)."""
        mask = np.zeros(self.passages, np.bool_)
        for part in self.parts:
            speakers = part.segment.speakers
            for name in speakers.names:
                if is_named(name, speaker):
                    positions = part.passages.at(speakers.passages_of(name)[0])
                    mask[positions[positions >= 0]] = True
        return mask

    def speakers(self, names: Sequence[str]) -> Speakers:
        """These speakers, by ascending names, with the passages of all segments."""
        units, weights = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
        for name in names:
            found = [(part, *part.segment.speakers.passages_of(name)) for part in self.parts]
            places = _joined([part.passages.at(own) for part, own, _ in found])
            order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
            units.append(places[order].astype(np.int32))
            weights.append(np.concatenate([weights[0], *(shares for *_, shares in found)])[order])
        bounds = np.cumsum([len(each) for each in units]).astype(np.int64)
        postings = Bm25Index(
            np.arange(len(names)),
            bounds,
            np.concatenate(units),
            np.concatenate(weights),
            self.passages,
        )
        return Speakers(tuple(names), postings)

    @cached_property
    def padding(self) -> Padding:
        """Where passages stand in a row with empty places between documents."""
        return Padding.of(self.first_passages, self.passages)

    @cached_property
    def sample(self) -> Sample:
        """Documents at even distances, their vectors in memory."""
        if self.earlier is not None:
            return self.earlier
        every = np.arange(len(self.document_rows))
        return Sample.of(every, self.bounds).kept(self.passage_vectors)

    @cached_property
    def languages(self) -> Mapping[str, int]:
        """The row of the first document in each language."""
        first: dict[str, int] = {}
        for part in self.parts:
            segment, kept = part.segment, part.documents.kept
            languages, every = kept(segment.language), kept(segment.document_rows)
            for number, code in enumerate(segment.lexicon.languages):
                if len(rows := every[languages == number]):
                    first[code] = min(int(rows[0]), first.get(code, int(rows[0])))
        return first

    @cached_property
    def lengths(self) -> Mapping[str, int]:
        """Terms in all units, by the names of `POSTINGS`."""
        return {name: sum(part.total_length(name) for part in self.parts) for name in POSTINGS}

    def known(self, stems: frozenset[str]) -> frozenset[str]:
        """Those of many stems that documents have; looked up once for each such set."""
        if stems not in self._known:
            self._known[stems] = frozenset().union(
                *(part.known(stems, remembered=True) for part in self.parts)
            )
        return self._known[stems]

    @cached_property
    def _known(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    def size(self, name: str) -> int:
        """Units of postings, by their name."""
        return self.passages if name.startswith("passage") else len(self.document_rows)


def _passages(segment: Segment, documents: IntArray, bounds: IntArray) -> Places:
    """Where the passages of a segment stand, whose documents stand at these positions."""
    place = Places.of(documents)
    if place.positions is None:
        return Places(segment.passages, int(bounds[place.first]))
    lengths = np.diff(segment.bounds)
    owner = np.repeat(np.arange(segment.documents), lengths)
    within = np.arange(segment.passages) - segment.bounds[owner]
    return Places.of(np.where(documents[owner] < 0, -1, bounds[documents[owner]] + within))


def _vectors(parts: list[tuple[FaissIndex, Places]], exact: bool) -> Vectors:
    nothing = FaissIndex(None, np.zeros((0, 1), np.float32)), Places(0, 0)
    return Vectors(tuple(parts) or (nothing,), exact)


def _joined(arrays: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int64), *arrays])
