"""BM25 of a query's sentences: stems and pairs of stems, over passages and over documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.snapshot import Snapshot

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
    rows = [snapshot.lexicon.numbers(text) for text in texts]
    lexicon = snapshot.lexicon
    return LexicalScores(
        np.stack([snapshot.passages.score(lexicon.unigrams(row)) for row in rows]),
        np.stack([snapshot.passage_pairs.score(lexicon.bigrams(row)) for row in rows]),
    )


def document_scores(snapshot: Snapshot, text: str) -> tuple[FloatArray, FloatArray]:
    """BM25 of whole documents (documents,) for a whole query: by stems, and by pairs of stems."""
    row = snapshot.lexicon.numbers(text)
    lexicon = snapshot.lexicon
    return (
        snapshot.documents.score(lexicon.unigrams(row)),
        snapshot.document_pairs.score(lexicon.bigrams(row)),
    )
