"""The key sentence of a part of a document: the one with most of its keywords."""

from __future__ import annotations

import math
from collections.abc import Sequence

from generator.extractive.non_prose import names_only
from generator.overview.blocks import Block, Statement
from indexing.text.tables import is_row
from indexing.text.terms import strip_annotations

_SHORT, _LONG = 8, 35  # words of a sentence that is easy to read out of its context


def telling_sentence(part: Sequence[Block], weights: dict[str, float]) -> Statement:
    """The sentence of a part, one block at least, whose words weigh most.

    Rows of a table say nothing out of it: they come after prose. Headings, of a table too, come
    last, as they only name what follows.

    Args:
        part: Its blocks.
        weights: Of its stems (`keywords.stem_weights`).
    """
    every = [statement for block in part for statement in block.statements]
    prose = [not is_row(each.sentence.text) for each in every]
    at_best = sorted(
        range(len(every)), key=lambda at: (prose[at], _score(every[at], weights), -at), reverse=True
    )
    says = (at for at in at_best if not names_only(every[at].sentence))
    return every[next(says, at_best[0])]


def _score(statement: Statement, weights: dict[str, float]) -> float:
    """Square roots of the weights of its distinct stems, over the root of its length."""
    total = sum(math.sqrt(weights.get(each, 0.0)) for each in set(statement.stems))
    words = max(len(strip_annotations(statement.sentence.text).split()), 1)
    length = min(words / _SHORT, 1.0) * min(_LONG / words, 1.0)
    return total / math.sqrt(words) * length
