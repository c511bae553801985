"""BM25 of a query's sentences: stems and pairs of stems, over passages and over documents.

Single stems leave out words of questions; pairs keep them, as they belong to set phrases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from indexing.text.language import language_of_question
from indexing.text.vocabulary import Lexicon

if TYPE_CHECKING:
    from retriever.rounds.query_words import QueryWords

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """What a text is looked up by."""

    stems: IntArray  # (n,) distinct, in its order, without words of asking if others are left
    pairs: IntArray  # (m,) its pairs of neighbouring stems

    @classmethod
    def of(cls, lexicon: Lexicon, text: str) -> Terms:
        """Those that documents have."""
        language = language_of_question(text, lexicon.languages)
        found = lexicon.numbers(text, language)
        stems = dict.fromkeys(lexicon.unigrams(found).tolist())
        plain = lexicon.words_of_asking(language)
        topic = [stem for stem in stems if stem not in plain]
        return cls(np.array(topic or [*stems], np.int64), lexicon.bigrams(found))


def passage_stems(words: QueryWords, texts: Sequence[Terms]) -> FloatArray:
    """BM25 of passages for each text, (q, passages), by stems."""
    return _rows([words.passages.score(text.stems) for text in texts])


def passage_pairs(words: QueryWords, texts: Sequence[Terms]) -> FloatArray:
    """BM25 of passages for each text, (q, passages), by pairs of stems."""
    return _rows([words.passage_pairs.score(text.pairs) for text in texts])


def _rows(every: Sequence[FloatArray]) -> FloatArray:
    """(q, n) of arrays (n,), one of which is not copied."""
    return every[0][None] if len(every) == 1 else np.stack(every)
