"""Rows of tables among the evidence: which one a question is about, and the cell that answers.

Rows of one table are as like each other as sentences can be, so that neither the encoder nor the
reader tells well which is asked for. A question that has all words of a cell ("What does the life
jacket cost?"), or a part of them that no other row has, names the rows that have this cell, unless
all rows of the table have it. Where it names a column too, such a row answers, and nothing beside
the table has to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from generator.evidence import Sentence, Vectors
from generator.extractive.features import SentenceFeatures
from generator.extractive.question.answer_slot import asked_slot, fills
from generator.extractive.question.answer_type import AnswerType, classify_question, has_answer_type
from indexing.text.days.in_words import day_in_words
from indexing.text.english import ORDINALS
from indexing.text.language import ENGLISH
from indexing.text.tables import LABEL, RULE, SHEET, cell_spans, is_row, table_columns
from indexing.text.terms import content_stems

_SHORT = 3  # words of a cell that is an answer as a whole
_SPEECH = 8  # words; a cell of more is prose
_LEAST = 2  # characters of some words of a cell
_PART = 1 / 3  # of a cell's stems that name it in part, where one of them is of this row alone
_IN_PART = 0.25  # of a cell that is named
_COLUMN_IN_PART = 0.5  # of a column that is named
_NAMED_CELL = 8.0  # more than all else together tells apart two rows of a table
_NAMED_ROW, _ASKED_COLUMN = 1.5, 2.5  # less than a sentence that does answer is ahead of others

_NUMBER = re.compile(r"[A-Z]|\d{1,2}")
_NAME = re.compile(
    r"[A-ZÀ-Þ][^\W\d]*\.?(?:,?[ -](?:[A-ZÀ-Þ][^\W\d]*\.?|&|and|und|de|van|von)){0,5}"
)
_COUNTED = re.compile(  # what is counted: "how much gravel", but not "how much does"
    r"\bhow (?:many|much) (?!(?:do(?:es)?|did|is|are|was|were|will|would|can|could|has|have|had"
    r"|should|of|more|less|to|in|per|longer|money|people|persons|times|for|it|the|a|we|you)\b)(\w+)",
    re.IGNORECASE,
)
_NO_COLUMN = re.compile(r"\b(?:out of|up to) date\b", re.IGNORECASE)
_WHERE = re.compile(r"\W*(?:where|wo|wohin|woher)\b", re.IGNORECASE)
_ORDINALS = "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft"
_GERMAN_ORDINALS = tuple(_ORDINALS.split())  # their stems, by value, from 1


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row."""

    column: str  # the name of its column; "" where nothing says it
    label: int  # first character of that name in the row, or of the value where it is not there
    start: int  # first character of its value in the row
    end: int  # one past the last


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a row."""

    stems: frozenset[str] = frozenset()  # of the question's content words
    kind: AnswerType | None = None  # the type of answer that is expected, if the question tells
    language: str = ENGLISH  # of the question
    question: str = ""  # as asked

    @classmethod
    def by(cls, features: SentenceFeatures) -> Asked:
        """By the question of these features."""
        question, query = features.question, features.query
        query = _NO_COLUMN.sub("", query)
        said = f"{query} {day_in_words(query, features.language)}"
        stems = frozenset(content_stems(said, features.language))
        return cls(stems, classify_question(question), features.language, question)

    def names(self, words: str) -> bool:
        """Whether the question has all of some words."""
        stems = content_stems(words, self.language)
        return bool(stems) and self.stems.issuperset(stems)

    def number_of(self, column: str, value: str) -> str:
        """How the question says a letter or number of a column ("option B"); "" if it does not."""
        if not _NUMBER.fullmatch(value) or not column:
            return ""
        name = re.escape(column.rsplit(maxsplit=1)[-1].rstrip("."))
        forms = [rf"{name}\.?\W+(?:no\.?|nr\.?|number|nummer)?\W*{value}"]
        if value.isdigit() and 1 <= int(value) <= len(ORDINALS):
            forms += [rf"{each}\w*\W+{name}" for each in _ordinals(int(value))]
        match = re.search(rf"\b(?:{'|'.join(forms)})\b", self.question, re.IGNORECASE)
        return match[0] if match else ""

    def beside(self, values: Iterable[str]) -> Asked:
        """What is asked beside those values that the question names."""
        said = (content_stems(each, self.language) for each in values if self.names(each))
        return replace(self, stems=self.stems.difference(*said))

    def expects(self, value: str) -> bool:
        """Whether a value is of the expected type; a date or a time of day is no quantity."""
        if self.kind is None or not has_answer_type(self.kind, value):
            return False
        return self.kind != "quantity" or not has_answer_type("time", value)


def _ordinals(number: int) -> Iterator[str]:
    """How a number is said as an ordinal, in English and German."""
    yield ORDINALS[number - 1]
    yield from _GERMAN_ORDINALS[number - 1 : number]


def cells(text: str, columns: Sequence[str] = ()) -> Iterator[Cell]:
    """The cells of a row, but for empty ones; `columns` names them where the row does not."""
    for number, (label, end) in enumerate(cell_spans(text)):
        column, start = columns[number] if number < len(columns) else "", label
        if not columns:
            name, colon, value = text[label:end].partition(": ")
            if colon and len(name) <= LABEL:
                column, start = name, end - len(value.lstrip())
        if start < end:
            yield Cell(column, label, start, end)


def cell_of(
    text: str, start: int, end: int, asked: Asked | None = None, columns: Sequence[str] = ()
) -> tuple[int, int] | None:
    """Where a row answers, as far as that is one cell, in characters; None where no cell does.

    The cell of the one column that the question names answers; else the one that has most of the
    words from `start` to `end`, which may answer, unless another one alone is of the expected type.
    What the question itself says is no answer. Of a long cell, some words alone may be.
    """
    asked = asked or Asked()
    every = [one for one in cells(text, columns) if not asked.names(text[one.start : one.end])]
    rest = asked.beside(text[one.start : one.end] for one in cells(text, columns))
    of_column = [one for one in every if rest.names(one.column)]
    fitting = [one for one in every if asked.expects(text[one.start : one.end])]
    touched = [one for one in every if _shared(one, start, end)]
    cell = max(touched, key=lambda one: _shared(one, start, end), default=None)
    if len(of_column) == 1:
        (cell,) = of_column
    elif of_column and cell not in of_column:
        return None
    elif len(fitting) == 1 and cell not in fitting:
        (cell,) = fitting
    if cell is None:
        return None
    inner = max(start, cell.start), min(end, cell.end)
    whole = len(text[cell.start : cell.end].split()) <= _SHORT or inner[1] - inner[0] < _LEAST
    return (cell.start, cell.end) if whole else inner


def _shared(cell: Cell, start: int, end: int) -> int:
    """How many characters of a cell, its column's name included, words have."""
    return max(0, min(end, cell.end) - max(start, cell.label))


def row_scores(features: SentenceFeatures) -> Vectors:
    """(n,) what is added to the score of each sentence for what the question names of its row.

    Less for a row of which it names fewer cells than of the best one of the document; more for a
    row of which it names most, and more again where it names a column in which this row has a cell.
    Rows without a value of the kind that is asked for get no more. 0 for what is no row, and for
    rows of documents of which it names none.
    """
    asked = Asked.by(features)
    scores = np.zeros(len(features.sentences), np.float32)
    bonus = np.zeros(len(features.sentences), np.float32)
    best = 0.0
    for telling, most in _telling(features, asked):
        named = {number: sum(names.values()) for number, names in telling.items() if most}
        fitting = {number for number in named if _may_answer(features.sentences[number], asked)}
        least = max((named[number] for number in fitting), default=0.0) or most
        best = max(best, least)
        for number, cells_ in named.items():
            fits = number in fitting
            scores[number] = _NAMED_CELL * (cells_ - (least if fits else most))
            if fits and cells_ == least:
                rest = replace(asked, stems=asked.stems.difference(*telling[number]))
                answers = _answers(features.sentences[number], rest)
                bonus[number] = least * (_NAMED_ROW + _ASKED_COLUMN * answers)
    return scores + bonus / best if best else scores


def named_rows(features: SentenceFeatures) -> dict[int, tuple[str, ...]]:
    """Which sentences are rows that the question names best, of all documents, with their table."""
    scores = row_scores(features)
    tables = [*_telling(features, Asked.by(features))]
    best = max((most for _, most in tables), default=0.0)
    return {
        number: _table_of(features.sentences[number])
        for telling, most in tables
        if most and most == best
        for number in telling
        if scores[number] == scores[[*telling]].max()
    }


def _table_of(row: Sentence) -> tuple[str, ...]:
    """By which tables are told apart: the document, and the names of columns."""
    return row.document.id, *(cell.column for cell in cells(row.text, row.columns))


def is_said_of(features: SentenceFeatures, row: int, start: int) -> bool:
    """Whether a cell is told by the question: by a word of its row that not all rows have.

    `start` is a character of the cell in the document. A cell of many words is read like any
    sentence. Which row is the cheapest, or how many there are, no row says.
    """
    one = features.sentences[row]
    at = start - one.start
    for cell in cells(one.text, one.columns):
        if cell.start <= at < cell.end and len(one.text[cell.start : cell.end].split()) > _SPEECH:
            return True
    asked = Asked.by(features)
    rows = [
        _touched(each, asked)
        for each in features.sentences
        if each.document.id == one.document.id and is_row(each.text) and not is_header(each)
    ]
    common = frozenset.intersection(*rows) if len(rows) > 1 else frozenset()
    return bool(_touched(one, asked) - common)


def _touched(row: Sentence, asked: Asked) -> frozenset[str]:
    """What the question has of a row's values."""
    values = " ".join(row.text[cell.start : cell.end] for cell in cells(row.text, row.columns))
    return asked.stems.intersection(content_stems(values, asked.language))


def _telling(
    features: SentenceFeatures, asked: Asked
) -> Iterator[tuple[dict[int, dict[frozenset[str], float]], float]]:
    """Of each document's rows the cells that the question names and not all rows have; the most.

    A cell that it names in part counts for less than one that it names.
    """
    documents = defaultdict[str, dict[int, list[frozenset[str]]]](dict)
    for number, sentence in enumerate(features.sentences):
        if is_row(sentence.text) and not is_header(sentence):
            documents[sentence.document.id][number] = _cell_stems(sentence, asked)
    for rows in documents.values():
        often = Counter(cell for cells_ in rows.values() for cell in {*cells_})
        spread = Counter(stem for cells_ in rows.values() for stem in {*chain(*cells_)})
        telling = {
            number: {
                cell: named
                for cell in cells_
                if often[cell] < len(rows) and (named := _named(cell, asked, spread))
            }
            for number, cells_ in rows.items()
        }
        yield telling, max(sum(names.values()) for names in telling.values())


def _cell_stems(row: Sentence, asked: Asked) -> list[frozenset[str]]:
    """The stems of each cell of a row that can name it."""
    found: list[frozenset[str]] = []
    for cell in cells(row.text, row.columns):
        if cell.column == SHEET:
            continue
        value = day_in_words(row.text[cell.start : cell.end], asked.language)
        stems = frozenset(content_stems(value, asked.language))
        if not _can_name(stems):
            stems = frozenset(content_stems(asked.number_of(cell.column, value), asked.language))
        if stems:
            found.append(stems)
    return found


def _named(cell: frozenset[str], asked: Asked, spread: Mapping[str, int]) -> float:
    """1 where the question has all of a cell, less for a good part that no other row has.

    `spread` says in how many rows of the document each stem occurs.
    """
    said = cell & asked.stems
    if said == cell:
        return 1.0
    alone = any(spread[each] == 1 and len(each) > 1 for each in said)
    return _IN_PART if alone and len(said) >= _PART * len(cell) else 0.0


def _may_answer(row: Sentence, asked: Asked) -> bool:
    """Whether a row has a value of the kind that is asked for, as far as the question tells it."""
    if asked.kind == "person":
        found = (one for one in cells(row.text, row.columns) if one.column != SHEET)
        values = (row.text[one.start : one.end] for one in found)
        return any(_NAME.fullmatch(each) and not asked.names(each) for each in values)
    if counted := _COUNTED.search(asked.question):
        said = set(content_stems(row.read, asked.language))
        if not said.issuperset(content_stems(counted[1], asked.language)):
            return False
    slot = asked_slot(asked.question)
    return slot is None or fills(slot, asked.question, row.read)


def _answers(row: Sentence, asked: Asked) -> float:
    """1 for a row with a cell in a column that the question names, less for one named in part.

    Numbers are no places.
    """
    is_place = _WHERE.match(asked.question) is not None
    best = 0.0
    for cell in cells(row.text, row.columns):
        value = row.text[cell.start : cell.end]
        if cell.column == SHEET or (is_place and not any(map(str.isalpha, value))):
            continue
        stems = content_stems(cell.column, asked.language)
        if asked.names(cell.column):
            return 1.0
        if any(len(each) > _LEAST and each in asked.stems for each in stems):
            best = _COLUMN_IN_PART
    return best


def _can_name(stems: frozenset[str]) -> bool:
    """Whether a cell can name its row: neither nothing nor a digit, which counts something else."""
    return any(len(each) > 1 for each in stems)


def is_header(row: Sentence) -> bool:
    """Whether a row names the columns of those below, and answers nothing itself.

    One that stands in the document again, as on each page of a long table, does.
    """
    text, end = row.document.text, row.document.text.find("\n", row.end)
    if end < 0 or text[row.end : end].strip(" |"):
        return False
    below = text[end + 1 : text.find("\n", end + 1) + 1 or len(text)].strip()
    if RULE.fullmatch(below) or text.count(f"\n{row.text}\n") > 1:
        return True
    if any(table.start == row.start for table in table_columns(text)):
        return True
    names = {row.text[first:last] for first, last in cell_spans(row.text)}
    said = [cell.column for cell in cells(below)] if is_row(below) else []
    return bool(said) and names.issuperset(said) and "" not in said
