"""Retriever and generator share a stemmer and words of asking; the weights rest on both."""

from __future__ import annotations

from hashlib import sha256

from indexing.text import terms
from indexing.text.english import FUNCTION_WORDS, QUESTION_WORDS, REQUEST_WORDS
from indexing.text.vocabulary import stems

# From the sample vocabulary that is published with the Porter2 stemmer, snowballstem.org.
PUBLISHED = {
    "consignment": "consign",
    "consisting": "consist",
    "consolation": "consol",
    "consolingly": "consol",
    "conspicuously": "conspicu",
    "generously": "generous",
    "knavish": "knavish",
    "knitting": "knit",
    "knightly": "knight",
    "skies": "sky",
    "dying": "die",
}


def digest(words: frozenset[str]) -> str:
    return sha256(" ".join(sorted(words)).encode()).hexdigest()[:16]


def test_stems_are_those_of_porter2_in_both_packages() -> None:
    words, published = list(PUBLISHED), list(PUBLISHED.values())
    assert stems(words) == [terms.stem(word) for word in words] == published
    assert terms.stem("budget's") == "budget"
    kept = sorted(FUNCTION_WORDS)
    assert stems(kept) == kept


def test_weights_were_fitted_with_these_words() -> None:
    """Whoever changes them fits the weights of rankings and of quotes again."""
    assert (len(REQUEST_WORDS), digest(REQUEST_WORDS)) == (26, "7d641df05e3dd0cd")
    assert (len(QUESTION_WORDS), digest(QUESTION_WORDS)) == (76, "c6f7a5915df2c0a9")
    assert REQUEST_WORDS < QUESTION_WORDS
