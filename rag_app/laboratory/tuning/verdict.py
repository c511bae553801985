"""Do tuned positions read long texts better than interpolated ones? A verdict on texts held out.

Every fifth piece of the window's length is left out of the training. Words from random places of
these pieces are queries: which of the pieces does each come from? Both methods answer the same
queries, so the comparison is paired.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from indexing.extension import TunedPositions, build_method
from indexing.extension.method import Change
from rag_app.laboratory.datasets.synthetic import WORDS_PER_TOKEN
from rag_app.laboratory.evaluation.bootstrap import interval, mean
from rag_app.progress import track

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

HELD = 5  # one piece in so many
FEWEST, MOST = 6, 40  # pieces to judge by
QUERIES, QUERY_WORDS = 8, 24  # of each piece


@dataclass(frozen=True, slots=True)
class Split:
    """Texts to train on, and pieces that are held out; none where there are too few."""

    train: tuple[str, ...]
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shares of the queries whose own piece came first, 0 to 1.

    Attributes:
        pieces: How many were ranked.
        queries: How many there were.
        tuned: With the tuned positions.
        interpolated: With the positions that the training began from (`--extension pi`).
        interval: Of the difference, 95 %; whole pieces are resampled, with their queries.
    """

    pieces: int
    queries: int
    tuned: float
    interpolated: float
    interval: tuple[float, float]

    @property
    def sentence(self) -> str:
        """What it comes to, with the advice."""
        low, high = (100 * edge for edge in self.interval)
        advice = "no difference that this can show; --extension pi does without a file"
        if low > 0:
            advice = "the tuned positions are better"
        elif high < 0:
            advice = "they are worse; use --extension pi instead"
        return (
            f"verdict: of {self.queries} queries from {self.pieces} pieces of text that were held "
            f"out, {self.tuned:.1%} find their piece with the tuned positions and "
            f"{self.interpolated:.1%} with interpolated ones (difference {low:+.1f} to {high:+.1f} "
            f"points, 95 %): {advice}"
        )

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return {
            "pieces": self.pieces,
            "queries": self.queries,
            "tuned": round(self.tuned, 5),
            "interpolated": round(self.interpolated, 5),
            "interval": [round(edge, 5) for edge in self.interval],
        }


def piece_words(max_length: int) -> int:
    """How many words make a piece of so many tokens."""
    return max(1, round(max_length * WORDS_PER_TOKEN))


def hold_out(texts: Sequence[str], *, max_length: int) -> Split:
    """Divide texts; all are trained on where there would be too few pieces to judge by."""
    size = piece_words(max_length)
    train: list[str] = []
    test: list[str] = []
    number = 0
    for text in texts:
        words, begin = text.split(), 0
        for at in range(0, len(words) - size + 1, size):
            number += 1
            if number % HELD == 0 and len(test) < MOST:
                test.append(" ".join(words[at : at + size]))
                train.append(" ".join(words[begin:at]))
                begin = at + size
        train.append(" ".join(words[begin:]))
    if len(test) < FEWEST:
        return Split(tuple(texts), ())
    return Split(tuple(text for text in train if text), tuple(test))


def judge(model: SentenceTransformer, file: Path, texts: Sequence[str]) -> Verdict:
    """Compare a file of tuned positions with interpolated ones.

    Args:
        model: The encoder it was tuned for, not extended.
        file: What `tune` has written.
        texts: Pieces that were not trained on.
    """
    tuned = TunedPositions(file)
    length = tuned.record().max_length
    queries, gold = _queries(texts)
    hits = [
        _hits(model, method, texts, queries, gold)
        for method in (tuned, build_method("pi", max_length=length))
    ]
    pairs = np.stack([each.reshape(len(texts), -1) for each in hits], axis=-1)
    return Verdict(
        len(texts),
        len(queries),
        mean(pairs[..., 0]),
        mean(pairs[..., 1]),
        interval(pairs, lambda rows: mean(rows[..., 0]) - mean(rows[..., 1])),
    )


def _queries(texts: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """`QUERIES` of each piece, from places at random, and which piece each is from."""
    source = random.Random(0)  # noqa: S311 - a benchmark, not a secret
    queries = []
    for text in texts:
        words = text.split()
        last = max(0, len(words) - QUERY_WORDS)
        places = [source.randint(0, last) for _ in range(QUERIES)]
        queries += [" ".join(words[at : at + QUERY_WORDS]) for at in places]
    return queries, np.repeat(np.arange(len(texts)), QUERIES)


def _hits(
    model: SentenceTransformer,
    method: Change,
    pieces_of_test: Sequence[str],
    queries: list[str],
    gold: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """(queries,) 1 where a query's own piece came first."""
    with method(model), track(pieces_of_test, doing=f"Judging {method.name}") as texts:
        pieces = np.stack([model.encode(text, normalize_embeddings=True) for text in texts])
        vectors = model.encode(queries, normalize_embeddings=True, show_progress_bar=False)
    nearest = (np.asarray(vectors) @ pieces.T).argmax(axis=1)
    return np.asarray(nearest == gold, np.float64)
