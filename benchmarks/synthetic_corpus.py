"""Synthetic corpora of any size: vectors and words that are distributed like those of real ones.

What a search costs depends on how vectors cluster and on how often words occur, not on what they
mean. Both are drawn here, from a seed, with the figures of the QMSum training split as the default
encoder sees it (10,661 passages of 162 meetings):

- Vectors are a common part, a subject, a document, a stretch of talk and a passage of its own, each
  Gaussian with a spectrum that falls like 1/k, normalised to unit length. Measured there: a cosine
  of 0.31 between passages of different documents, 0.57 between those of one, 0.77 between
  neighbours; drawn here: 0.31, 0.57, 0.67.
- A query has a cosine of about 0.55 with the passage it asks for, as the questions of that split
  have with their best passage, and is otherwise drawn from the same spectrum. It lies far from all
  passages, which is what makes it hard for indexes that look into a few cells or along a graph.
- Words follow Zipf's law with Mandelbrot's offset; a quarter of them come from a document's own
  short vocabulary, as real words come in bursts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.text.english import FUNCTION_WORDS
from indexing.text.vocabulary import Lexicon

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

DIMENSION = 384
PASSAGES = 66  # of a document, on average
WORDS = 150  # of a passage
VOCABULARY = 200_000
DOCUMENT_VOCABULARY = 300  # words of a document's own
BURSTINESS = 0.25  # share of words that are from the document's own vocabulary

# Shares of the squared length; they sum to 1.
COMMON, SUBJECT, DOCUMENT, STRETCH, PASSAGE = 0.31, 0.13, 0.13, 0.20, 0.23
STRETCHES = 2  # passages of a stretch, on average
SUBJECTS = 512
QUERY_COSINE = 0.55  # of a query and the passage it asks for


@dataclass(frozen=True, slots=True)
class SyntheticQuery:
    """A query: its text, and the vectors of the whole and of its sentences.

    Attributes:
        text: Sentences of words of the vocabulary.
        vectors: (1 + sentences, d) float32.
    """

    text: str
    vectors: FloatArray


@dataclass(frozen=True)
class SyntheticCorpus:
    """A corpus that is drawn block by block, so that it need not fit into memory.

    Attributes:
        owner: (passages,) int64 document of each passage, ascending.
        seed: What it is drawn from.
    """

    owner: IntArray
    seed: int

    @classmethod
    def of(cls, passages: int, *, seed: int = 0) -> SyntheticCorpus:
        """A corpus of so many passages, in documents whose lengths are log-normal."""
        draw = np.random.default_rng((seed, 0))
        lengths = draw.lognormal(np.log(PASSAGES) - 0.18, 0.6, passages // 10 + 1).astype(np.int64)
        owner = np.repeat(np.arange(len(lengths)), np.maximum(lengths, 1))
        if len(owner) < passages:  # a handful of passages, and short documents were drawn
            owner = np.concatenate((owner, np.full(passages - len(owner), len(lengths))))
        return cls(owner[:passages].astype(np.int64), seed)

    @property
    def documents(self) -> int:
        """How many there are."""
        return int(self.owner[-1]) + 1

    def lexicon(self) -> Lexicon:
        """The vocabulary; the number of a stem is the rank of the word."""
        return Lexicon([word(rank) for rank in range(VOCABULARY)])

    def vectors(self, *, block: int = 65536) -> Iterator[FloatArray]:
        """(up to `block`, d) unit vectors at a time, in the order of the passages."""
        spectrum = self._spectrum()
        subjects = _gaussian((self.seed, 1), SUBJECTS)
        common = _unit(_gaussian((self.seed, 2), 1) @ spectrum)
        for number, start in enumerate(range(0, len(self.owner), block)):
            owner = self.owner[start : start + block]
            draw = np.random.default_rng((self.seed, 3, number))
            first = int(owner[0])
            documents = np.stack([self._document(d, subjects) for d in range(first, owner[-1] + 1)])
            stretch = np.cumsum(draw.random(len(owner)) < 1 / STRETCHES)
            stretches = draw.standard_normal((stretch[-1] + 1, DIMENSION), np.float32)
            vectors = draw.standard_normal((len(owner), DIMENSION), np.float32) * PASSAGE**0.5
            vectors += STRETCH**0.5 * stretches[stretch]
            vectors += documents[owner - first]
            yield _unit(vectors @ spectrum + COMMON**0.5 * common)

    def queries(
        self, vectors: FloatArray, places: IntArray, *, sentences: int = 2
    ) -> list[SyntheticQuery]:
        """Queries for the passages at some places.

        Args:
            vectors: (queries, d) of those passages.
            places: (queries,) where they stand.
            sentences: Of each query.
        """
        draw = np.random.default_rng((self.seed, 4))
        noise = _unit(_gaussian((self.seed, 5), len(places) * (1 + sentences)) @ self._spectrum())
        noise = noise.reshape(len(places), 1 + sentences, DIMENSION)
        noise -= (noise @ vectors[:, :, None]) * vectors[:, None, :]
        noise = _unit(noise)
        targets = QUERY_COSINE * vectors[:, None, :] + (1 - QUERY_COSINE**2) ** 0.5 * noise
        return [
            SyntheticQuery(self._question(int(place), sentences, draw), np.ascontiguousarray(each))
            for place, each in zip(places, targets, strict=True)
        ]

    def words(self, first: int, last: int) -> IntArray:
        """(last - first, WORDS) numbers of words of the passages from `first` to `last` - 1."""
        draw = np.random.default_rng((self.seed, 6, first))
        owner = self.owner[first:last]
        ranks = _zipf(draw, (last - first, WORDS), VOCABULARY)
        own = _zipf(draw, (last - first, WORDS), DOCUMENT_VOCABULARY)
        words = _document_words(owner[:, None], own)
        return np.asarray(np.where(draw.random(ranks.shape, np.float32) < BURSTINESS, words, ranks))

    def _question(self, place: int, sentences: int, draw: np.random.Generator) -> str:
        """Sentences of eight words, half of them from the passage's document."""
        parts = []
        for _ in range(sentences):
            words = _document_words(self.owner[place], _zipf(draw, (4,), DOCUMENT_VOCABULARY))
            numbers = np.concatenate((words, _zipf(draw, (4,), VOCABULARY)))
            found = [word(int(n)) for n in draw.permutation(numbers)]
            while found[-1] in FUNCTION_WORDS:  # "no." and "a." end no sentence
                found = [*found[1:], found[0]]
            parts.append(" ".join(found).capitalize())
        return "".join(f"{part}. " for part in parts).strip()

    def _document(self, document: int, subjects: FloatArray) -> FloatArray:
        draw = np.random.default_rng((self.seed, 7, document))
        offset = draw.standard_normal(DIMENSION, np.float32)
        subject = subjects[draw.integers(len(subjects))]
        return np.asarray(SUBJECT**0.5 * subject + DOCUMENT**0.5 * offset, np.float32)

    def _spectrum(self) -> FloatArray:
        """(d, d): independent numbers into directions whose variance falls like 1/k."""
        k = np.arange(DIMENSION)
        scale = np.sqrt(np.exp(-k / 200) / (k + 3))
        rotation, _ = np.linalg.qr(
            np.random.default_rng((self.seed, 8)).normal(size=(k.size, k.size))
        )
        return np.asarray(scale[:, None] / np.linalg.norm(scale) * rotation, np.float32)


def word(number: int) -> str:
    """A word of the vocabulary; the most frequent ones are English function words."""
    function = sorted(FUNCTION_WORDS)
    if number < len(function):
        return function[number]
    letters, rest = "", number
    while rest:
        rest, digit = divmod(rest, 70)
        letters += "bdfgklmnprstvz"[digit % 14] + "aeiou"[digit // 14]
    return letters + "x"  # no suffix that a stemmer would take off


def _document_words(document: IntArray | np.int64, rank: IntArray) -> IntArray:
    """Words of documents' own vocabularies, by rank; none is among the most frequent 1,000."""
    return np.asarray(1000 + (document * 7919 + rank * 104_729) % (VOCABULARY // 4))


def _zipf(draw: np.random.Generator, shape: tuple[int, ...], most: int) -> IntArray:
    """Ranks from 0 to `most` - 1, with probabilities that fall like 1 / (rank + 2.7)."""
    low, high = np.log(2.7), np.log(most + 2.7)
    ranks = np.exp(low + (high - low) * draw.random(shape, np.float32)) - 2.7
    return np.asarray(np.minimum(ranks.astype(np.int64), most - 1))


def _gaussian(seed: tuple[int, ...], rows: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((rows, DIMENSION), np.float32)


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)
