"""Key words: the log-likelihood ratio, and what is no key word."""

from __future__ import annotations

import math

import pytest

from generator.overview.blocks import blocks
from generator.overview.keywords import keywords, log_likelihood, stem_counts, stem_weights
from indexing.files import document


def test_the_ratio_is_that_of_two_binomials() -> None:
    """Against the formula: 2 * sum of observed * log(observed / expected), by hand for 6 and 2."""
    expected = (6 + 2) / (40 + 60)
    ratio = 2 * (6 * math.log(6 / (40 * expected)) + 2 * math.log(2 / (60 * expected)))
    assert log_likelihood(6, 2, 40, 60) == pytest.approx(ratio)
    assert log_likelihood(2, 6, 60, 40) == pytest.approx(-ratio)
    assert log_likelihood(4, 6, 40, 60) == pytest.approx(0, abs=1e-9)
    assert log_likelihood(0, 5, 10, 10) == pytest.approx(-2 * 5 * math.log(2))


def test_the_words_that_a_part_has_more_often() -> None:
    text = (
        "The ferries cross. A ferry isn't a bridge, and three ferries are three.\n\n"
        "Bread rises. The baker bakes bread, and the baker sells it on the third day."
    )
    every = blocks(document(text, name="two"))
    whole = stem_counts(every)
    assert keywords(every[:1], stem_weights(every[:1], whole))[0] == "ferries"
    assert set(keywords(every[1:], stem_weights(every[1:], whole), most=2)) == {"bread", "baker"}
    shown = keywords(every[:1], stem_weights(every[:1], whole), most=20)
    assert not {"three", "isn't", "the"} & set(shown)
