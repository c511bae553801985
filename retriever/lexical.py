"""BM25 of a query's sentences: stems and pairs of stems, over passages and over documents.

Single stems leave out the words by which one asks; pairs keep them, as they belong to set phrases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.lexicon import Lexicon
from indexing.snapshot import Snapshot
from retriever.query import ASKING

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """BM25 of q texts.

    Attributes:
        passages: (q, passages) by stems.
        passage_pairs: (q, passages) by pairs of stems.
    """

    passages: FloatArray
    passage_pairs: FloatArray


def passage_scores(snapshot: Snapshot, texts: Sequence[str]) -> LexicalScores:
    """Score passages for each text."""
    lexicon = snapshot.lexicon
    return LexicalScores(
        np.stack([snapshot.passages.score(_topic(lexicon, text)) for text in texts]),
        np.stack(
            [snapshot.passage_pairs.score(lexicon.bigrams(lexicon.numbers(t))) for t in texts]
        ),
    )


def document_scores(snapshot: Snapshot, text: str) -> tuple[FloatArray, FloatArray]:
    """BM25 of whole documents (documents,) for a whole query: by stems, and by pairs of stems."""
    lexicon = snapshot.lexicon
    return (
        snapshot.documents.score(_topic(lexicon, text)),
        snapshot.document_pairs.score(lexicon.bigrams(lexicon.numbers(text))),
    )


def _topic(lexicon: Lexicon, text: str) -> npt.NDArray[np.int64]:
    """Stems of what a text is about; all of them where it is made of asking words only."""
    every = lexicon.unigrams(lexicon.numbers(text))
    topic = every[~np.isin(every, lexicon.numbers(ASKING))]
    return topic if len(topic) else every
