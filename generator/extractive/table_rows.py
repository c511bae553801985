"""Rows of tables among the evidence: which one a question is about, and the cell that answers.

Rows of one table are as like each other as sentences can be, so that neither the encoder nor the
reader tells well which is asked for. A question that has all words of a cell ("What does the life
jacket cost?") names the rows that have this cell, unless all rows of the table have it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures
from indexing.text.tables import LABEL, SEPARATOR
from indexing.text.terms import content_stems

_SHORT = 3  # words of a cell that is an answer as a whole


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row.

    Attributes:
        column: The name of its column; "" where the row does not say it.
        start: First character of its value in the row.
        end: One past the last.
    """

    column: str
    start: int
    end: int


def is_row(text: str) -> bool:
    """Whether a sentence is a row of a table."""
    return SEPARATOR in text


def cells(text: str) -> Iterator[Cell]:
    """The cells of a row, but for empty ones."""
    at = 0
    for part in text.split(SEPARATOR):
        name, colon, _ = part.partition(": ")
        column = name if colon and len(name) <= LABEL else ""
        start, end = at + len(column) + (len(colon) if column else 0), at + len(part)
        start += len(text[start:end]) - len(text[start:end].lstrip(" |"))
        end -= len(text[start:end]) - len(text[start:end].rstrip(" |"))
        if start < end:
            yield Cell(column, start, end)
        at += len(part) + len(SEPARATOR)


def cell_of(text: str, start: int, end: int, asked: Collection[str] = ()) -> tuple[int, int]:
    """Where a row answers, as far as that is one cell; of a long cell some words alone.

    Args:
        text: The row.
        start: First character of the words that may answer.
        end: One past the last.
        asked: Stems of the question: the cell of the one column that it names answers, else the
            one that has most of the words.
    """
    every = list(cells(text))
    of_column = [cell for cell in every if _is_asked_for(cell.column, asked)]
    if len(of_column) == 1 and not _is_asked_for(
        text[of_column[0].start : of_column[0].end], asked
    ):
        cell = of_column[0]
    else:
        cell = max(every, key=lambda one: _shared(one, start, end), default=Cell("", start, end))
    if _shared(cell, start, end) <= 0:
        return (cell.start, cell.end) if cell in of_column else (start, end)
    if len(text[cell.start : cell.end].split()) <= _SHORT:
        return cell.start, cell.end
    return max(start, cell.start), min(end, cell.end)


def _shared(cell: Cell, start: int, end: int) -> int:
    return min(end, cell.end) - max(start, cell.start)


def _is_asked_for(words: str, asked: Collection[str]) -> bool:
    stems = content_stems(words)
    return bool(stems) and all(each in asked for each in stems)


def named_cells(features: SentenceFeatures) -> Vectors:
    """(n,) how many cells fewer the question names of each row than of the best in its document.

    0 for what is no row, and for rows of documents of which it names none.
    """
    asked = set(content_stems(features.query, features.language))
    named = dict[int, set[frozenset[str]]]()
    for number, sentence in enumerate(features.sentences):
        text = sentence.text
        if is_row(text):
            values = (text[cell.start : cell.end] for cell in cells(text))
            stems = (frozenset(content_stems(each, features.language)) for each in values)
            named[number] = {each for each in stems if each <= asked and _can_name(each)}
    documents = defaultdict[str, list[int]](list)
    for number in named:
        documents[features.sentences[number].document.id].append(number)
    fewer = np.zeros(len(features.sentences), np.float32)
    for rows in documents.values():
        often = Counter(cell for number in rows for cell in named[number])
        counts = [sum(often[cell] < len(rows) for cell in named[number]) for number in rows]
        fewer[rows] = np.array(counts, np.float32) - max(counts)
    return fewer


def _can_name(stems: frozenset[str]) -> bool:
    """Whether a cell can name its row: neither nothing nor a digit, which counts something else."""
    return any(len(each) > 1 for each in stems)
