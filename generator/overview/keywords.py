"""Keywords of a part of a document: words that it has far more often than the rest.

The weight of a stem is its log-likelihood ratio between the part and the rest (Dunning, "Accurate
methods for the statistics of surprise and coincidence", Computational Linguistics 1993), which
stays small for rare words, unlike a ratio of frequencies.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from generator.overview.blocks import Block
from indexing.text.english import ORDINALS, REQUEST_WORDS, SCALES, TENS, UNITS
from indexing.text.terms import content_words, stem

_SHORTEST = 3  # letters of a key word
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")  # no figures, and nothing like "isn't"
_COMMON_TEXT = """
    able actually again also always another around back bad best better big bit call came come
    cool couple day different done every everybody everyone everything exactly far feel find fine
    first found gave get gets getting give go goes going gone good got great guy guys happen happy
    hard help idea important issue kinds last later less let little long look looked looking lot
    lots made make makes making many matter maybe much must need needed needs never new next nice
    now number oh one ones part people perhaps person place point possible pretty probably problem
    put quite rather reason said saw say saying says second see seem seems seen set shall show
    since sit small somebody someone something sometimes soon sorry start still stuff suppose take
    taken takes taking talk tell terms thank thanks therefore thought three time times today
    together took tried try trying turn two use used using various want wanted wants way ways week
    whatever whether whole without word words work working works worth would year years yet"""
_NUMBERS = (*UNITS, *TENS, *SCALES, *ORDINALS)
_COMMON = frozenset(map(stem, (*_COMMON_TEXT.split(), *REQUEST_WORDS, *_NUMBERS)))


def log_likelihood(within: int, beside: int, part: int, rest: int) -> float:
    """Dunning's ratio for a word, signed: negative where the part has it less often.

    The word is so often within the part and beside it; part and rest have so many words.
    """
    rate = (within + beside) / (part + rest)
    ratio = 2 * (_surprise(within, rate * part) + _surprise(beside, rate * rest))
    return ratio if within * rest >= beside * part else -ratio


def _surprise(count: int, expected: float) -> float:
    return count * math.log(count / expected) if count else 0.0


def stem_weights(part: Sequence[Block], whole: Counter[str]) -> dict[str, float]:
    """The stems that a part has more often than the rest, with their log-likelihood ratios."""
    own = stem_counts(part)
    size, everything = own.total(), whole.total()
    weights = {
        each: log_likelihood(count, whole[each] - count, size, everything - size)
        for each, count in own.items()
        if each not in _COMMON and len(each) >= _SHORTEST and _LETTERS.fullmatch(each)
    }
    return {each: weight for each, weight in weights.items() if weight > 0}


def stem_counts(blocks: Sequence[Block]) -> Counter[str]:
    """How often each stem occurs."""
    return Counter(
        each for block in blocks for statement in block.statements for each in statement.stems
    )


def keywords(part: Sequence[Block], weights: dict[str, float], *, most: int = 4) -> tuple[str, ...]:
    """Key words of a part, best first, each in its most frequent form."""
    best = sorted(weights, key=lambda each: (-weights[each], each))[:most]
    forms: dict[str, Counter[str]] = {each: Counter() for each in best}
    for block in part:
        for statement in block.statements:
            if not forms.keys() & set(statement.stems):
                continue
            for word in content_words(statement.sentence.text):
                if (key := stem(word)) in forms:
                    forms[key][word] += 1
    return tuple(forms[each].most_common(1)[0][0] for each in best if forms[each])
