"""Features of evidence sentences for a question: dense similarity and soft lexical coverage.

A sentence that answers in other words than the question's has few of its words, but words like
them: "money" beside "budget". So each word of the question looks for its most similar word in the
sentence (MaxSim: Khattab and Zaharia, SIGIR 2020, here with vectors of single words), and the
similarities are summed, weighted by how rare the word is in the evidence (idf).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from generator.evidence import Embed, Sentence, Vectors, reading_order
from generator.extractive.misheard import heard_names
from generator.reader.reading import Reading
from generator.scales.cosine_scale import PACKAGED, CosineScale
from indexing.cached_property import cached_property
from indexing.text.language import ENGLISH, language_of, language_of_question
from indexing.text.terms import Rarity, content_stems, content_words, stem, topic_words

_UNRELATED = 0.4  # cosine of two words that have nothing to do with each other, or less


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of sentences and of single words."""

    embed: Embed  # texts to normalised vectors, (n, d) float32; it keeps those that it has made
    scale: CosineScale = PACKAGED  # of their cosines


@dataclass(frozen=True)
class SentenceFeatures:
    """Features of n evidence sentences for a question of m words."""

    query: str  # the question, completed with what it follows on, if it leans on that
    question: str  # as asked
    sentences: Sequence[Sentence]
    stems: list[list[str]]  # of each sentence, the stems of its content words
    similarity: Vectors  # (n,) cosine of query and sentence, on the packaged encoder's scale
    word_similarity: Vectors  # (n, m) each sentence's best match for each word of the query, 0 to 1
    word_weights: Vectors  # (m,) of the words of the query, by rarity; they sum to 1
    contextual: Vectors | None = None  # (n,) score in its context, 0 for the best (`late_chunking`)
    reading: Reading | None = None  # what the reader says; None where they were not read
    language: str = ENGLISH  # of the question, by its words and by the languages of the sentences

    @classmethod
    def of(
        cls,
        query: str,
        sentences: Sequence[Sentence],
        words: WordVectors,
        *,
        question: str | None = None,
    ) -> SentenceFeatures:
        """Compute them; `query` completes the question. Embeds all that is new in one call."""
        texts = [sentence.read for sentence in sentences]
        languages = [language_of(sentence.document.text) for sentence in sentences]
        asked = language_of_question(query, [each for each, _ in Counter(languages).most_common()])
        content = [content_words(*each) for each in zip(texts, languages, strict=True)]
        topic = topic_words(query, asked)
        vocabulary = sorted({word for each in content for word in each})
        both = words.embed([query, *texts, *topic, *vocabulary])
        vectors, word_vectors = both[: len(texts) + 1], both[len(texts) + 1 :]
        stems = [content_stems(*each) for each in zip(texts, languages, strict=True)]
        rarity = Rarity(stems)
        weights = np.array([rarity.of(stem(word, asked)) for word in topic], np.float32)
        cosines = word_vectors[: len(topic)] @ word_vectors[len(topic) :].T
        likeness = _similarity(topic, vocabulary, words.scale.of_words(cosines), asked)
        return cls(
            query,
            question or query,
            sentences,
            stems,
            similarity=words.scale.of_sentences(vectors[1:] @ vectors[0]),
            word_similarity=np.maximum(
                _max_similarity(likeness, vocabulary, content),
                heard_names(query, topic, texts, asked),
            ),
            word_weights=weights / weights.sum() if len(weights) else weights,
            language=asked,
        )

    @property
    def is_read(self) -> bool:
        """Whether they were read, by a reader that may know the language of the question."""
        return self.reading is not None and self.reading.language in {None, self.language}

    @property
    def usual(self) -> SentenceFeatures:
        """The same as the smaller readers have it, where a larger one has read again."""
        before = self.reading and self.reading.before
        return replace(self, reading=before) if before else self

    @cached_property
    def coverage(self) -> Vectors:
        """(n,) weighted share of the query's words that each sentence has, or the like of."""
        return weighted_share(self.word_similarity, self.word_weights)

    @cached_property
    def neighbourhood_coverage(self) -> Vectors:
        """(n,) the same for each sentence with those right before and after it."""
        best = self.word_similarity.copy()
        for before, after in self.neighbours:
            best[before] = np.maximum(best[before], self.word_similarity[after])
            best[after] = np.maximum(best[after], self.word_similarity[before])
        return weighted_share(best, self.word_weights)

    @cached_property
    def neighbours(self) -> list[tuple[int, int]]:
        """Indexes of neighbours: each sentence, and the next one of its document's evidence."""
        every = self.sentences
        near = pairwise(reading_order(every))
        return [(i, j) for i, j in near if every[i].document.id == every[j].document.id]


def weighted_share(similarity: Vectors, weights: Vectors) -> Vectors:
    """(n,) weighted sums of rows (n, w) of similarities.

    OpenBLAS computes beside the end of small arrays, too, and NumPy would warn of what stands there
    ("invalid value encountered in matmul"); all that is given here is finite.
    """
    with np.errstate(invalid="ignore"):
        share: Vectors = similarity @ weights
    return share


def _similarity(
    topic: Sequence[str], vocabulary: Sequence[str], cosines: Vectors, language: str
) -> Vectors:
    """(m, v) similarity of the query's words and the evidence's, 0 to 1; 1 for equal stems."""
    similarity = np.clip((cosines - _UNRELATED) / (1 - _UNRELATED), 0, 1)
    topic_stems = np.array([stem(word, language) for word in topic], dtype=object)
    stems = np.array([stem(word, language) for word in vocabulary], dtype=object)
    similarity[topic_stems[:, None] == stems[None, :]] = 1
    return np.asarray(similarity, np.float32)


def _max_similarity(
    similarity: Vectors, vocabulary: Sequence[str], sentences: Sequence[Sequence[str]]
) -> Vectors:
    """(n, m) of each sentence, its best similarity to each word of the query."""
    column = {word: i for i, word in enumerate(vocabulary)}
    best = np.zeros((len(sentences), len(similarity)), np.float32)
    for row, words in enumerate(sentences):
        if words:
            best[row] = similarity[:, [column[word] for word in words]].max(axis=1)
    return best
