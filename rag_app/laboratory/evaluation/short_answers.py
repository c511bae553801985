"""Words that answer against those of annotators, as SQuAD's script compares them.

Rajpurkar et al., arXiv 1606.05250, section 6.1: in lower case, without punctuation and articles;
the best over all annotators' answers.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")


def word_f1(prediction: str, references: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of words, 0 to 1; the best over all references."""
    return max((_f1(_words(prediction), _words(one)) for one in references), default=0.0)


def exact_match(prediction: str, references: Sequence[str]) -> bool:
    """Whether the words are those of a reference."""
    return any(_words(prediction) == _words(one) for one in references)


def _words(text: str) -> list[str]:
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return _ARTICLES.sub(" ", bare).split()


def _f1(prediction: Sequence[str], reference: Sequence[str]) -> float:
    shared = sum((Counter(prediction) & Counter(reference)).values())
    if not prediction or not reference:
        return float(prediction == reference)
    return 2 * shared / (len(prediction) + len(reference))
