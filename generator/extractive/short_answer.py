"""The words that answer, which stand out inside a quote.

Of the words that the reader found in each quoted sentence, the best are taken, by their own score
and by that of their sentence; a number in another unit than the question's is left out. Open
questions ("What did they think of it?") have no such words mostly: there they must be all the
likelier to stand out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generator.answer import Citation, ShortAnswer
from generator.evidence import Sentence
from generator.extractive.features import SentenceFeatures
from generator.extractive.fitted import FITTED
from generator.extractive.question.answer_type import is_open
from generator.extractive.ranking import Weights, answer_scores
from generator.extractive.table_rows import Asked, cell_of, is_said_of
from generator.reader.reading import Words
from indexing.text.tables import is_row
from indexing.text.terms import annotation_spans

_WORDS = 0.2  # weight of words' score beside their sentence's, where they are chosen


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words that may answer."""

    sentence: int  # index of their sentence
    start: int  # first character
    end: int  # one past the last
    words: float  # their own score
    score: float  # their sentence's score

    @property
    def rank(self) -> float:
        """By which the best is chosen."""
        return self.score + _WORDS * self.words

    def probability(self, weights: Weights | None = None) -> float:
        """That they answer, 0 to 1; None for the weights that ship."""
        weights = weights or FITTED.short
        total = weights["bias"] + weights["words"] * self.words + weights["score"] * self.score
        return 1 / (1 + math.exp(-total))


def candidates(features: SentenceFeatures, weights: Weights | None = None) -> list[Candidate]:
    """The best words of each sentence that was read and has content, best first."""
    if features.reading is None:
        return []
    scores = answer_scores(features, weights)
    asked = Asked.by(features)
    every = [
        Candidate(i, *place, found.score, float(scores[i]))
        for i, found in enumerate(features.reading.words)
        if found is not None and np.isfinite(scores[i])
        if (place := _in_cell(features.sentences[i], found, asked)) is not None
    ]
    return sorted(every, key=lambda one: -one.rank)


def _in_cell(sentence: Sentence, words: Words, asked: Asked) -> tuple[int, int] | None:
    """Where words stand; of a row of a table, as far as they lie in one cell, or None."""
    if not is_row(sentence.text):
        return _without_annotations(sentence, words)
    at = sentence.start
    place = cell_of(sentence.text, words.start - at, words.end - at, asked, sentence.columns)
    return None if place is None else (at + place[0], at + place[1])


def _without_annotations(sentence: Sentence, words: Words) -> tuple[int, int] | None:
    """Where words stand, without the part of an annotation at their ends; None if nothing is left.

    "{disfmarker}" is nobody's word.
    """
    start, end = words.start - sentence.start, words.end - sentence.start
    for first, last in annotation_spans(sentence.text):
        start = last if first <= start < last else start
        end = first if first < end <= last else end
    bare = sentence.text[start:end].strip()
    if start >= end or not bare:
        return None
    start += sentence.text[start:end].index(bare)
    return sentence.start + start, sentence.start + start + len(bare)


def short_answer(features: SentenceFeatures, citations: Sequence[Citation]) -> ShortAnswer | None:
    """The best words within the first citation; None where they are not likely enough.

    The first one leads the answer, so that words of another one would contradict it.
    Of rows of a table only one alone answers, and only where the question tells which.
    """
    least = FITTED.short_above_open if is_open(features.question) else FITTED.short_above
    for one in candidates(features):
        sentence = features.sentences[one.sentence]
        document = sentence.document
        for citation in citations[:1]:
            if citation.document == document.id and citation.start <= one.start < citation.end:
                if is_in_another_unit(features.question, document.text, one.start, one.end):
                    break
                if is_row(sentence.text) and not _is_told(
                    features, one.sentence, one.start, citations
                ):
                    return None
                likely = one.probability()
                if likely < least:
                    return None
                return ShortAnswer.within(citation, one.start, one.end, likely)
    return None


def _is_told(features: SentenceFeatures, row: int, start: int, cited: Sequence[Citation]) -> bool:
    """Whether a row answers in a few words: the question tells it, and no other one is cited."""
    document = features.sentences[row].document.id
    rows = sum(one.document == document and is_row(one.quote) for one in cited)
    return rows == 1 and is_said_of(features, row, start)


_UNITS: tuple[tuple[str, ...], ...] = (
    ("milliseconds?", "ms", "Millisekunden?"),
    ("seconds?", "secs?", "Sekunden?"),
    ("minutes?", "mins?", "Minuten?"),
    ("hours?", "hrs?", "Stunden?"),
    ("days?", "Tagen?", "Tage", "Tag"),
    ("weeks?", "Wochen?"),
    ("months?", "Monaten?", "Monate", "Monat"),
    ("years?", "yrs?", "Jahren?", "Jahre", "Jahr"),
    ("percent", "per cent", "%", "Prozent"),
    ("millimet(?:er|re)s?", "mm", "Millimetern?"),
    ("centimet(?:er|re)s?", "cm", "Zentimetern?"),
    ("kilomet(?:er|re)s?", "km", "Kilometern?"),
    ("met(?:er|re)s?", "Metern?"),
    ("miles?", "Meilen?"),
    ("grams?", "Gramm"),
    ("kilograms?", "kilos?", "kg", "Kilogramm"),
    ("lit(?:er|re)s?", "Litern?"),
    ("dollars?", "Dollar"),
    ("euros?", "Euro"),
    ("pounds?", "Pfund"),
)
_UNIT = re.compile("|".join(f"({'|'.join(words)})" for words in _UNITS), re.IGNORECASE)
_ASKED = re.compile(
    rf"\b(?:how many|wie ?viele?)\s+(?:\w+\s+)?(?:{_UNIT.pattern})(?!\w)", re.IGNORECASE
)
_GIVEN = re.compile(rf"(?<=\d)[\s-]?(?:{_UNIT.pattern})(?!\w)", re.IGNORECASE)


def is_in_another_unit(question: str, text: str, start: int, end: int) -> bool:
    """Whether words are in seconds, for example, where the question asks for hours."""
    asked = _ASKED.search(question)
    if asked is None:
        return False
    given = [
        match.lastindex
        for match in _GIVEN.finditer(text, start, min(len(text), end + 15))
        if match.start() <= end + 1
    ]
    return bool(given) and asked.lastindex not in given
