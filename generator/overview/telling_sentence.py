"""The key sentence of a part of a document: the one with most of its keywords."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from generator.evidence import Sentence
from generator.overview.blocks import Block, Statement
from indexing.text.days.occasions import is_labelled
from indexing.text.tables import cell_spans, is_row, table_columns
from indexing.text.terms import strip_annotations

_SHORT, _LONG = 8, 35  # words of a sentence that is easy to read out of its context


def telling_sentence(part: Sequence[Block], weights: dict[str, float]) -> Statement:
    """The sentence of a part, one block at least, whose words weigh most.

    Rows of a table say nothing out of it: they come after prose. Headings, of a table too, come
    last, as they only name what follows, with lines that say when a meeting was and who was there.
    """
    every = [statement for block in part for statement in block.statements]
    prose = [not is_row(each.sentence.text) for each in every]
    at_best = sorted(
        range(len(every)), key=lambda at: (prose[at], _score(every[at], weights), -at), reverse=True
    )
    says = (at for at in at_best if not _names(every[at].sentence))
    return every[next(says, at_best[0])]


def _score(statement: Statement, weights: dict[str, float]) -> float:
    """Square roots of the weights of its distinct stems, over the root of its length."""
    total = sum(math.sqrt(weights.get(each, 0.0)) for each in set(statement.stems))
    words = max(len(strip_annotations(statement.sentence.text).split()), 1)
    length = min(words / _SHORT, 1.0) * min(_LONG / words, 1.0)
    return total / math.sqrt(words) * length


def _names(sentence: Sentence) -> bool:
    is_label = sentence.utterance is None and is_labelled(sentence.text)
    return is_label or is_heading(sentence)


def is_heading(sentence: Sentence) -> bool:
    """Whether a sentence is a line that names what follows: a heading, or a table's columns."""
    text = sentence.document.text
    start = text.rfind("\n", 0, sentence.start) + 1
    line, after = text[start : sentence.end], text[sentence.end :]
    if is_row(line):
        below = after.lstrip(" |").removeprefix("\n").partition("\n")[0]
        return _names_cells(line, below) or any(
            table.start == sentence.start for table in table_columns(text)
        )
    if re.match(r"#{1,6}\s", line):
        return True
    alone = line == sentence.text and sentence.utterance is None and after.startswith("\n\n")
    before = text[max(0, start - 2) : start]
    words = line.split()
    is_open = bool(words) and words[-1][-1].isalnum()
    return alone and before in {"", "\n\n"} and is_open and len(words) <= _SHORT


def _names_cells(row: str, below: str) -> bool:
    """Whether every cell of the row below begins with a cell of a row, as its label."""
    names = {row[start:end] for start, end in cell_spans(row)}
    labels = {below[start:end].partition(": ")[0] for start, end in cell_spans(below)}
    return ": " in below and labels <= names
