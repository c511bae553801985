"""A shard as a part of its corpus: its snapshot, with weights that rest on what all shards hold.

Two rounds. In the first, shards tell how much they hold, and which words of a question and which
speakers they know; in the second, how often these words occur. With that each makes the snapshot
that a question is scored by: its own vectors and passages, and of the words only those of the
question, weighed as one snapshot of all documents would weigh them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from indexing.index.bm25 import idf, mean_length_of
from indexing.index.bm25_counts import frequencies
from indexing.index.snapshot import POSTINGS, Snapshot
from indexing.text.english import QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES
from indexing.text.vocabulary import Lexicon, pair_keys, stems, words
from retriever.lexical import numbers
from retriever.query import Query
from retriever.rounds.rounds import Rounds, Share, exchange
from retriever.speaker_mentions import mentioned_names

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Knowledge(Share["Knowledge"]):
    """How much a shard holds, and what it knows of a question.

    Attributes:
        units: Passages or documents of each of `POSTINGS`.
        lengths: Terms in all of them.
        languages: Row of the first document in each language.
        stems: Those of the question, and of words of asking, that documents have.
        speakers: Whom the question may name.
    """

    units: Mapping[str, int]
    lengths: Mapping[str, int]
    languages: Mapping[str, int]
    stems: frozenset[str]
    speakers: frozenset[str]

    @classmethod
    def of(cls, snapshot: Snapshot, query: Query) -> Knowledge:
        """What one shard knows."""
        return cls(
            {name: getattr(snapshot, name).size for name in POSTINGS},
            {name: snapshot.counts[name].total_length for name in POSTINGS},
            snapshot.languages,
            snapshot.lexicon.known(_possible_stems(query)),
            frozenset(mentioned_names(query.text, snapshot.speakers)),
        )

    def merge(self, others: Sequence[Knowledge]) -> Knowledge:
        """What all shards know."""
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
    """In how many passages or documents of a shard each term of a question stands.

    Attributes:
        counts: (terms,) by the names of `POSTINGS`.
    """

    counts: Mapping[str, IntArray]

    def merge(self, others: Sequence[Frequencies]) -> Mapping[str, IntArray]:
        """In how many of all shards."""
        return {
            name: np.sum([own, *(one.counts[name] for one in others)], axis=0)
            for name, own in self.counts.items()
        }


def view(snapshot: Snapshot, query: Query) -> Rounds[Snapshot]:
    """The snapshot of a shard by which a question is scored."""
    every = yield from exchange(Knowledge.of(snapshot, query))
    lexicon = Lexicon(sorted(every.stems), list(every.languages))
    own = np.array([snapshot.lexicon.number(stem) for stem in lexicon.stems], np.int64)
    keys = _keys(lexicon, query)
    terms = {name: _own_terms(keys[name.endswith("_pairs")], own, name) for name in POSTINGS}
    counts = {name: frequencies(getattr(snapshot, name), terms[name]) for name in POSTINGS}
    frequency = yield from exchange(Frequencies(counts))
    postings: dict[str, Any] = {}
    for name in POSTINGS:
        weighed = snapshot.counts[name].weigh(
            getattr(snapshot, name),
            terms[name],
            rarity=idf(frequency[name], every.units[name]),
            mean=mean_length_of(every.lengths[name], every.units[name]),
        )
        postings[name] = replace(weighed, keys=keys[name.endswith("_pairs")])
    speakers = snapshot.speakers.among(sorted(every.speakers))
    return replace(snapshot, lexicon=lexicon, speakers=speakers, **postings)


@lru_cache(maxsize=64)
def _possible_stems(query: Query) -> frozenset[str]:
    """The stems that words of a question, and words of asking, have in any language."""
    every = words(" ".join((query.text, *query.sentences)))
    return _stems_of_asking().union(*(stems(every, code) for code in (ENGLISH, *LANGUAGES)))


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


def _own_terms(keys: IntArray, own: IntArray, name: str) -> IntArray:
    """Terms of the question as the shard has them in its postings, -1 for those it has not."""
    if not name.endswith("_pairs"):
        return own[keys]
    first, second = own[keys >> 31], own[keys & ((1 << 31) - 1)]
    return np.where((first >= 0) & (second >= 0), pair_keys(first, second), -1)
