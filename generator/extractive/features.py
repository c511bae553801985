"""A question beside its evidence: how close each sentence is, as a whole and word by word.

A sentence that answers in other words than the question's has few of its words, but words like
them: "money" beside "budget". So each word of the question looks for its most similar word in the
sentence (MaxSim: Khattab and Zaharia, SIGIR 2020, here with vectors of single words), and the
similarities are summed, weighted by how rare the word is in the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from generator.evidence import Embed, Sentence, Vectors
from indexing.text.terms import Rarity, content_stems, content_words, stem, topic_words

_UNLIKE = 0.4  # cosine of two words that have nothing to do with each other, or less
_KEPT = 50_000  # words whose vectors are kept; 75 MB with 384 dimensions


Closeness = Callable[[str, Sequence[Sentence]], Vectors]
"""Question and n sentences to (n,) numbers, 0 for the closest (`late_chunking`)."""


class WordVectors:
    """Vectors of single words, kept from question to question.

    Args:
        embed: Texts to normalised vectors, (n, d) float32.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, Vectors] = {}

    def embedded(self, texts: Sequence[str], words: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Vectors of texts (n, d) and of words (m, d), those not known yet in the same call."""
        known = dict(self._known)
        new = [word for word in dict.fromkeys(words) if word not in known]
        vectors = self._embed([*texts, *new])
        known.update(zip(new, vectors[len(texts) :], strict=True))
        self._known = known if len(known) <= _KEPT else {}
        found = [known[word] for word in words]
        width = vectors.shape[1:]
        return vectors[: len(texts)], np.stack(found) if found else np.zeros((0, *width), "f4")


@dataclass(frozen=True)
class Reading:
    """A question and n evidence sentences, compared.

    Attributes:
        question: Completed with what it follows on, if it leans on that.
        asked: As asked.
        found: The sentences.
        stems: Of each, those that carry meaning.
        close: (n,) cosine of question and sentence.
        likeness: (n, m) how well each sentence has each word of the question, 0 to 1.
        weights: (m,) what each word counts; they sum to 1.
        context: (n,) how close each sentence is to the question when it is read among its
            neighbours, from 0 downwards; None where it was not.
    """

    question: str
    asked: str
    found: Sequence[Sentence]
    stems: list[list[str]]
    close: Vectors
    likeness: Vectors
    weights: Vectors
    context: Vectors | None = None

    @classmethod
    def of(
        cls,
        question: str,
        found: Sequence[Sentence],
        words: WordVectors,
        *,
        asked: str | None = None,
    ) -> Reading:
        """Compare; embeds all that is new in one call.

        Args:
            question: What the sentences are compared with.
            found: The sentences.
            words: Vectors of words.
            asked: The question as asked, where `question` completes it.
        """
        texts = [sentence.text for sentence in found]
        said = [content_words(text) for text in texts]
        wanted = topic_words(question)
        vocabulary = sorted({word for each in said for word in each})
        vectors, lexicon = words.embedded([question, *texts], [*wanted, *vocabulary])
        stems = [content_stems(text) for text in texts]
        rarity = Rarity(stems)
        weights = np.array([rarity.of(stem(word)) for word in wanted], np.float32)
        alike = _alike(wanted, vocabulary, lexicon)
        return cls(
            question,
            asked or question,
            found,
            stems,
            close=vectors[1:] @ vectors[0],
            likeness=_best(alike, vocabulary, said),
            weights=weights / weights.sum() if len(weights) else weights,
        )

    def in_context(self, closeness: Closeness) -> Reading:
        """With what a reader of whole stretches says of each sentence."""
        return replace(self, context=closeness(self.question, self.found))

    @cached_property
    def coverage(self) -> Vectors:
        """(n,) weighted share of the question's words that each sentence has, or the like of."""
        share: Vectors = self.likeness @ self.weights
        return share

    @cached_property
    def coverage_nearby(self) -> Vectors:
        """(n,) the same for each sentence with those right before and after it."""
        best = self.likeness.copy()
        for before, after in self.pairs:
            best[before] = np.maximum(best[before], self.likeness[after])
            best[after] = np.maximum(best[after], self.likeness[before])
        share: Vectors = best @ self.weights
        return share

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Indexes of neighbours: each sentence, and the next one in the evidence."""
        found = self.found
        order = sorted(range(len(found)), key=lambda i: (found[i].document.id, found[i].start))
        return [(i, j) for i, j in pairwise(order) if found[i].document.id == found[j].document.id]


def _alike(wanted: Sequence[str], vocabulary: Sequence[str], lexicon: Vectors) -> Vectors:
    """(m, v) likeness of the question's words and the evidence's; 1 where the stems are equal."""
    cosine = lexicon[: len(wanted)] @ lexicon[len(wanted) :].T
    alike = np.clip((cosine - _UNLIKE) / (1 - _UNLIKE), 0, 1)
    asked_stems = np.array([stem(word) for word in wanted], dtype=object)
    said_stems = np.array([stem(word) for word in vocabulary], dtype=object)
    alike[asked_stems[:, None] == said_stems[None, :]] = 1
    return np.asarray(alike, np.float32)


def _best(alike: Vectors, vocabulary: Sequence[str], said: Sequence[Sequence[str]]) -> Vectors:
    """(n, m) each sentence's best likeness for each word of the question."""
    column = {word: i for i, word in enumerate(vocabulary)}
    best = np.zeros((len(said), len(alike)), np.float32)
    for row, words in enumerate(said):
        if words:
            best[row] = alike[:, [column[word] for word in words]].max(axis=1)
    return best
