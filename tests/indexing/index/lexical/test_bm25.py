"""BM25 against bm25s, against the formula in a loop, and against SQLite's own; terms and pairs."""

from __future__ import annotations

import math
import random
import sqlite3
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import numpy.typing as npt
import pytest

from indexing.index.array_file import read_arrays, write_arrays
from indexing.index.lexical import bm25
from indexing.index.lexical.bm25 import K1, B, Bm25Index
from indexing.index.padding import Padding
from indexing.text.english import FUNCTION_WORDS
from indexing.text.vocabulary import Lexicon, pair_keys, words
from tests.indexing.index.lexical.at_once import bm25_at_once

VOCABULARY = [f"w{number}" for number in range(60)]


def texts(count: int, *, seed: int = 0) -> list[list[str]]:
    """Texts of 1 to 60 words, frequent and rare ones; the third is empty."""
    draw = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(VOCABULARY))]
    made = [draw.choices(VOCABULARY, weights, k=draw.randint(1, 60)) for _ in range(count)]
    made[2] = []
    return made


def postings(made: list[list[str]], **options: float) -> Bm25Index:
    keys = [int(word[1:]) for text in made for word in text]
    units = [unit for unit, text in enumerate(made) for _ in text]
    return bm25_at_once(np.array(keys, np.int64), np.array(units, np.int32), len(made), **options)


def keys_of(query: list[str]) -> npt.NDArray[np.int64]:
    return np.array([int(word[1:]) for word in query], np.int64)


def formula(made: list[list[str]], query: list[str], *, k1: float, b: float) -> list[float]:
    """Robertson's BM25 with Lucene's idf, word by word."""
    mean = sum(map(len, made)) / len(made)
    scores = []
    for text in made:
        counts, score = Counter(text), 0.0
        for word in set(query):
            frequency = sum(word in other for other in made)
            idf = math.log(1 + (len(made) - frequency + 0.5) / (frequency + 0.5))
            tf = counts[word]
            if not tf:
                continue
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(K1, B), (1.2, 0.4), (0.9, 0.0), (2.0, 1.0)])
def test_scores_are_the_formula(k1: float, b: float) -> None:
    made, query = texts(40), ["w0", "w3", "w3", "w17", "w59"]
    scores = postings(made, k1=k1, b=b).score(keys_of(query))
    np.testing.assert_allclose(scores, formula(made, query, k1=k1, b=b), rtol=2e-6, atol=1e-6)


def test_scores_are_those_of_bm25s() -> None:
    """Apart from the factor k1 + 1, which it leaves out as Lucene does."""
    made, query = texts(50, seed=1), ["w1", "w2", "w30"]
    rival = bm25s.BM25(method="lucene", k1=K1, b=B)
    rival.index(made, show_progress=False)
    scores = postings(made).score(keys_of(query))
    np.testing.assert_allclose(scores, rival.get_scores(query) * (K1 + 1), rtol=2e-6, atol=1e-6)


def test_single_words_score_as_in_fts5() -> None:
    """SQLite has k1 = 1.2, b = 0.75, and another idf, which is one factor for all texts."""
    made = texts(80, seed=2)
    index = postings(made, k1=1.2, b=0.75)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5 (body)")
        database.executemany("INSERT INTO texts VALUES (?)", [[" ".join(text)] for text in made])
        for word in ("w5", "w25", "w44"):
            positions_found = database.execute(
                "SELECT rowid - 1, -bm25(texts) FROM texts WHERE texts MATCH ?", [word]
            ).fetchall()
            scores = index.score(keys_of([word]))
            assert sorted(unit for unit, _ in positions_found) == np.flatnonzero(scores).tolist()
            ratios = [scores[unit] / score for unit, score in positions_found]
            np.testing.assert_allclose(ratios, ratios[0], rtol=1e-5)


def test_what_nobody_has_scores_nothing() -> None:
    index = postings(texts(10))
    assert not index.score(np.array([999, -1], np.int64)).any()
    assert not index.score(np.zeros(0, np.int64)).any()
    assert index.score(keys_of(["w0"]))[2] == 0  # the empty text


@pytest.mark.parametrize("size", [0, 1, 4])
def test_texts_without_words(size: int) -> None:
    empty = bm25_at_once(np.zeros(0, np.int64), np.zeros(0, np.int32), size)
    assert empty.score(np.array([1, 2], np.int64)).tolist() == [0.0] * size


@pytest.mark.parametrize("count", [3, 40])
def test_saved_and_loaded(count: int, tmp_path: Path) -> None:
    built = postings(texts(count))
    write_arrays(tmp_path / "words", built.arrays("words"))
    loaded = Bm25Index.from_arrays(read_arrays(tmp_path / "words"), "words", built.size)
    query = keys_of(["w0", "w5", "w9"])
    assert np.array_equal(built.score(query), loaded.score(query))


# ---- terms ----


def test_words_are_lower_cased_runs_of_letters_and_digits() -> None:
    assert words("Don't cut the R&D-budget (5,000€)!") == [
        *("don", "t", "cut", "the", "r", "d", "budget", "5", "000")
    ]
    assert words("Zoë's naïve_plan") == ["zoë", "s", "naïve", "plan"]
    assert words("会議は2時") == ["会", "議", "は", "2", "時"]


def test_words_of_one_stem_share_a_number() -> None:
    lexicon = Lexicon()
    numbers = lexicon.learn("cut cuts cutting budget budgets")
    assert numbers[0] == numbers[1] == numbers[2] != numbers[3] == numbers[4]
    assert lexicon.numbers("Budgets were CUT, unknown") == [numbers[3], -1, numbers[0], -1]
    assert lexicon.stems == ["budget", "cut"]


def test_function_words_count_in_pairs_only() -> None:
    lexicon = Lexicon()
    the, of = lexicon.learn("the of")
    price = lexicon.learn("price")[0]
    row = lexicon.numbers("The price of")
    assert lexicon.unigrams(row).tolist() == [price]
    assert lexicon.bigrams(row).tolist() == [(the << 31) | price, (price << 31) | of]
    assert lexicon.is_function().tolist() == [n in (the, of) for n in range(len(lexicon.stems))]


def test_pairs_do_not_span_what_is_unknown() -> None:
    lexicon = Lexicon()
    lexicon.learn("lower price")
    assert lexicon.bigrams(lexicon.numbers("lower the price")).size == 0
    assert lexicon.bigrams([]).size == lexicon.bigrams([1]).size == 0


def test_pair_keys_are_distinct() -> None:
    numbers = np.array([0, 1, 2, 2**31 - 1], np.int64)
    first, second = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    assert len(np.unique(pair_keys(first, second))) == 16


def test_a_lexicon_comes_back_as_it_was() -> None:
    lexicon = Lexicon()
    text = "The İstanbul office cut costs;\u2028ﬁve 東京 cafés re\u0301sume\u0301 \u00a0 x²"
    numbers = lexicon.learn(text)
    loaded = Lexicon([*lexicon.stems], [*lexicon.languages])
    assert loaded.stems == lexicon.stems
    assert loaded.numbers(text) == numbers and -1 not in numbers
    assert np.array_equal(loaded.is_function(), lexicon.is_function())
    assert loaded.learn("brand new") == [len(lexicon.stems), len(lexicon.stems) + 1]


def test_no_function_word_is_inflected_away() -> None:
    lexicon = Lexicon()
    lexicon.learn(" ".join(sorted(FUNCTION_WORDS)))
    assert set(lexicon.stems) == FUNCTION_WORDS and lexicon.is_function().all()


@pytest.mark.parametrize("query", [[], ["w1"], ["w3", "w50", "w3"], [f"w{n}" for n in range(60)]])
@pytest.mark.parametrize("sparse", [0, 99])
def test_matches_and_a_padded_row_hold_the_same_scores(
    sparse: float, query: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "SPARSE", sparse)
    index = postings(texts(40))
    scores = index.score(keys_of(query))
    units, found = index.matches(keys_of(query))
    assert units.tolist() == np.flatnonzero(scores).tolist()
    np.testing.assert_allclose(found, scores[units], rtol=1e-6)
    padding = Padding.of(np.arange(0, 40, 7), 40)
    row = np.zeros(padding.size, np.float32)
    index.add_padded(keys_of(query), padding, row)
    assert np.array_equal(row[padding.places], scores) and row.sum() == pytest.approx(scores.sum())
