"""The words of a question, weighed by what all segments and all shards of a corpus hold.

Two rounds. In the first, parts tell how much they hold, and which words of a question and which
speakers they know; in the second, how often these words occur. With that each makes the postings
that a question is scored by: of the words only those of the question, weighed as one index of all
documents would weigh them, to the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from indexing.index.lexical.bm25 import Bm25Index, idf, mean_length_of, norms, term_weights
from indexing.index.segment import POSTINGS
from indexing.index.snapshot import Snapshot
from indexing.index.speakers import Speakers
from indexing.text.english import QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES, language_of_question
from indexing.text.vocabulary import Lexicon, pair_keys, stems, words
from retriever.query import Query
from retriever.rounds.rounds import Rounds, Share, exchange
from retriever.speaker_mentions import mentioned_names

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QueryWords:
    """What a question is looked up by in one part of a corpus, units by their positions there."""

    lexicon: Lexicon  # stems of the question, and of words of asking, that any part has
    passages: Bm25Index  # BM25 of stems over passages
    passage_pairs: Bm25Index  # BM25 of stem bigrams over passages
    documents: Bm25Index  # BM25 of stems over whole documents
    document_pairs: Bm25Index  # BM25 of stem bigrams over whole documents
    speakers: Speakers  # whom the question may name


@dataclass(frozen=True, slots=True)
class Knowledge(Share["Knowledge"]):
    """How much a part holds, and what it knows of a question."""

    units: Mapping[str, int]  # passages or documents of each of `POSTINGS`
    lengths: Mapping[str, int]  # terms in all of them
    languages: Mapping[str, int]  # row of the first document in each language
    stems: frozenset[str]  # those of the question, and of words of asking, that documents have
    speakers: frozenset[str]  # whom the question may name

    @classmethod
    def of(cls, snapshot: Snapshot, query: Query) -> Knowledge:
        """What one part knows."""
        asked = _stems_of(query)
        return cls(
            {name: snapshot.size(name) for name in POSTINGS},
            snapshot.lengths,
            snapshot.languages,
            snapshot.known(_stems_of_asking()).union(
                *(part.known(asked) for part in snapshot.parts)
            ),
            frozenset(
                name
                for part in snapshot.parts
                for name in mentioned_names(query.text, part.segment.speakers)
                if part.has_speaker(name)
            ),
        )

    def merge(self, others: Sequence[Knowledge]) -> Knowledge:
        """What all parts know."""
        every = (self, *others)
        rows = [(row, code) for one in every for code, row in one.languages.items()]
        languages: dict[str, int] = {}
        for row, code in sorted(rows):
            languages.setdefault(code, row)
        return Knowledge(
            {name: sum(one.units[name] for one in every) for name in POSTINGS},
            {name: sum(one.lengths[name] for one in every) for name in POSTINGS},
            languages,
            frozenset().union(*(one.stems for one in every)),
            frozenset().union(*(one.speakers for one in every)),
        )


@dataclass(frozen=True, slots=True)
class Frequencies(Share[Mapping[str, IntArray]]):
    """In how many passages or documents of a part each term of a question stands."""

    counts: Mapping[str, IntArray]  # (terms,) by the names of `POSTINGS`

    def merge(self, others: Sequence[Frequencies]) -> Mapping[str, IntArray]:
        """In how many of all parts."""
        return {
            name: np.sum([own, *(one.counts[name] for one in others)], axis=0)
            for name, own in self.counts.items()
        }


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Where the terms of a question stand, term by term."""

    keys: IntArray  # (terms,) by which they are asked for
    bounds: IntArray  # (terms + 1,) where the units of each begin
    units: npt.NDArray[np.int32]  # (n,) int32 positions, ascending within a term
    counts: FloatArray  # (n,) how often a term stands there
    lengths: FloatArray  # (n,) terms in the unit

    @classmethod
    def of(
        cls, snapshot: Snapshot, name: str, keys: IntArray, own: Sequence[IntArray]
    ) -> _Occurrences:
        """Of terms under their keys; `own` is what each segment calls them, -1 if it has none."""
        found: list[list[tuple[IntArray, FloatArray, FloatArray]]] = [[] for _ in keys]
        for part, terms in zip(snapshot.parts, own, strict=True):
            postings, places = part.segment.postings[name], part.places(name)
            live = places.live
            for each, (units, counts) in zip(found, postings.of(terms), strict=True):
                kept = slice(None) if live is None else live[units]
                if len(here := units[kept]):
                    each.append((places.at(here), counts[kept], postings.lengths[here]))
        several = len(snapshot.parts) > 1
        rows = [
            _ascending(each) if several and len(each) > 1 else each[0] for each in found if each
        ]
        sizes = [sum(len(units) for units, _, _ in each) for each in found]
        return cls(
            keys,
            np.append(0, np.cumsum(sizes)).astype(np.int64),
            np.concatenate([np.zeros(0, np.int32), *(row[0] for row in rows)], dtype=np.int32),
            np.concatenate([np.zeros(0, np.float32), *(row[1] for row in rows)]),
            np.concatenate([np.zeros(0, np.float32), *(row[2] for row in rows)]),
        )

    def weigh(self, frequency: IntArray, *, units: int, length: int, size: int) -> Bm25Index:
        """Their BM25 in a corpus of so many units and terms; `size` units are here."""
        rarity = np.repeat(idf(frequency, units), np.diff(self.bounds))
        norm = norms(self.lengths, mean_length_of(length, units))
        weights = term_weights(rarity, self.counts, norm)
        return Bm25Index(self.keys, self.bounds, self.units, weights, size)


def query_words(snapshot: Snapshot, query: Query) -> Rounds[QueryWords]:
    """What a question is looked up by in one part of a corpus."""
    every = yield from exchange(Knowledge.of(snapshot, query))
    lexicon = Lexicon(sorted(every.stems), list(every.languages))
    keys = _keys(lexicon, query)
    own = [_own_numbers(lexicon, part.segment.lexicon, keys) for part in snapshot.parts]
    occurrences = {}
    for name in POSTINGS:
        pairs = name.endswith("_pairs")
        terms = [_own_terms(keys[pairs], each, pairs=pairs) for each in own]
        occurrences[name] = _Occurrences.of(snapshot, name, keys[pairs], terms)
    counts = {name: np.diff(one.bounds) for name, one in occurrences.items()}
    frequency = yield from exchange(Frequencies(counts))
    weighed = {
        name: one.weigh(
            frequency[name],
            units=every.units[name],
            length=every.lengths[name],
            size=snapshot.size(name),
        )
        for name, one in occurrences.items()
    }
    speakers = snapshot.speakers(sorted(every.speakers))
    return QueryWords(lexicon, **weighed, speakers=speakers)


def _ascending(
    rows: Sequence[tuple[IntArray, FloatArray, FloatArray]],
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Units of several segments, with what belongs to each, as one row."""
    units, counts, lengths = (np.concatenate(each) for each in zip(*rows, strict=True))
    if (np.diff(units) > 0).all():
        return units, counts, lengths
    order = np.argsort(units, kind="stable")
    return units[order], counts[order], lengths[order]


@lru_cache(maxsize=64)
def _stems_of(query: Query) -> frozenset[str]:
    """The stems that words of a question have in any language."""
    every = words(" ".join((query.text, *query.sentences)))
    return frozenset().union(*(stems(every, code) for code in (ENGLISH, *LANGUAGES)))


@cache
def _stems_of_asking() -> frozenset[str]:
    asking = QUESTION_WORDS.union(*(one.stop_words for one in LANGUAGES.values()))
    every = words(" ".join(sorted(asking)))
    return frozenset().union(*(stems(every, code) for code in (ENGLISH, *LANGUAGES)))


def _keys(lexicon: Lexicon, query: Query) -> tuple[IntArray, IntArray]:
    """Terms that may be asked for, ascending: stems of the question, and their pairs."""
    texts = dict.fromkeys((query.text, *query.sentences))
    found = [numbers(lexicon, text) for text in texts]
    single = np.unique(np.concatenate([lexicon.unigrams(each) for each in found]))
    pairs = np.unique(np.concatenate([lexicon.bigrams(each) for each in found]))
    return single, pairs


def _own_numbers(lexicon: Lexicon, own: Lexicon, keys: tuple[IntArray, IntArray]) -> dict[int, int]:
    """What a segment calls the stems of these terms; -1 for those it has not."""
    single, pairs = keys
    asked = np.unique(np.concatenate((single, pairs >> 31, pairs & ((1 << 31) - 1)))).tolist()
    return {number: own.number(lexicon.stems[number]) for number in asked}


def _own_terms(keys: IntArray, own: Mapping[int, int], *, pairs: bool) -> IntArray:
    """Terms of the question as a segment has them in its postings, -1 for those it has not."""
    if not pairs:
        return np.array([own[key] for key in keys.tolist()], np.int64)
    first, second = keys >> 31, keys & ((1 << 31) - 1)
    left, right = (np.array([own[n] for n in row.tolist()], np.int64) for row in (first, second))
    return np.where((left >= 0) & (right >= 0), pair_keys(left, right), -1)


def numbers(lexicon: Lexicon, text: str) -> list[int]:
    """Numbers of all words of a query, in its language."""
    return lexicon.numbers(text, language_of_question(text, lexicon.languages))
