"""BM25 of a query's sentences: stems and pairs of stems, over passages and over documents.

Single stems leave out words of questions; pairs keep them, as they belong to set phrases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.text.language import language_of_question
from indexing.text.vocabulary import Lexicon

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
