"""Abstention: where the documents probably do not answer, nothing is generated.

The probability that they do is a logistic function of four numbers: the scores of all sentences
together, as what is answered is mostly told of more than once, and a question that only looks so
has one sentence that looks like it; the reader's logit that the stretch around the first one
answers; how many months and numbers of the question none of the documents has; and whether it lacks
the kind of value that is asked for, such as an amount or a time of day. Without a reader it is one
of how well the sentence fits that fits best: its cosine with the question, plus half of how much of
what the question is about occurs in it or right beside it, in these words or in similar ones, or is
the name of who says it. Either way it falls to nothing where none fits. A name that no document has
does not count: hardly any near miss has one, and a name may be misspelled.

Where a larger reader has read the best sentences again, the second is the greatest that all readers
together say of a stretch. The first two are fitted on the folders of strangers to develop on
(training/reader/fit_abstention.py), with a larger reader on sets of documents whose facts change;
the other two, and where sentences begin to fit, by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures
from generator.extractive.fitted import FITTED
from generator.extractive.question.answer_slot import asked_slot, fills
from generator.extractive.ranking import Weights, sentence_scores
from generator.numbers import tokenize
from indexing.documents import Document
from indexing.text.days.stated_date import MONTH_NUMBERS
from indexing.text.terms import topic_words, words

_COVERAGE = 0.5
_UNRELATED, _UNREAD = 0.35, 0.52  # with a reader and without; docs/notebook/experiments.md
_SOFT = 0.02
_SCALE = 2.0  # of scores, in which they count together
_OTHERS = 80  # sentences beside the best one, usually
_MONTHS = "|".join(map(str.capitalize, MONTH_NUMBERS))
_DATED = re.compile(rf"(?<!^)\b(?:{_MONTHS}|\d[\d,.]*\d|\d)\b")  # no month is the first word


def answer_probability(features: SentenceFeatures) -> float:
    """The probability that the evidence answers the question; 0 where there is none."""
    if not len(features.sentences):
        return 0.0
    if features.usual is not features:
        weights = FITTED.answerable_again
    else:
        weights = FITTED.answerable if features.reading else FITTED.answerable_unread
    values = answer_features(features)
    total = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    return relatedness(features) / (1 + math.exp(-total))


def relatedness(features: SentenceFeatures) -> float:
    """Whether any sentence is about what is asked, 0 to 1: a step, softened.

    Words that look like an answer are found in any text, of whatever the question is. A reader sees
    most of it by itself, so that with one the step lies lower.
    """
    least = _UNREAD if features.reading is None else _UNRELATED
    return 1 / (1 + math.exp(-(_fit(features) - least) / _SOFT))


def _fit(features: SentenceFeatures) -> float:
    """How well the sentence fits the question that fits best, -1 to 1.5."""
    covered = np.minimum(features.neighbourhood_coverage + _speaker_coverage(features), 1)
    return float((features.similarity + _COVERAGE * covered).max())


def _speaker_coverage(features: SentenceFeatures) -> Vectors:
    """(n,) weighted share of the question's words that are the sentence's speaker's name.

    Nobody says it of himself.
    """
    asked = topic_words(features.query, features.language)
    weights = dict(zip(asked, map(float, features.word_weights), strict=True))
    labels = {each.speaker for each in features.sentences if each.speaker}
    shares = {name: sum(weights.get(word, 0.0) for word in {*words(name)}) for name in labels}
    return np.array(
        [shares.get(each.speaker or "", 0.0) for each in features.sentences], np.float32
    )


def answer_features(features: SentenceFeatures, weights: Weights | None = None) -> dict[str, float]:
    """What the probability is made of, by name; weights as in `sentence_scores`."""
    if features.reading is None:
        return {"fit": _fit(features)}
    said, again = features.reading.answerable, features.usual is not features
    features = features.usual
    scores = sentence_scores(features, weights or FITTED.sentence)  # in any language
    best, slot = int(scores.argmax()), asked_slot(features.question)
    lacks = slot and not fills(slot, features.question, features.sentences[best].read)
    return {
        "scores": _together(scores[np.isfinite(scores)]),
        "answerable": float(said.max() if again else said[best]),
        "dates missing": float(_dates_missing(features)),
        "value missing": float(bool(lacks)),
    }


def _together(scores: Vectors) -> float:
    """All scores as one: the greatest, and more the less the others are below it.

    The others count as if they were as many as usual, so that few documents are judged alike.
    """
    powers = np.exp((scores - scores.max()) / _SCALE)
    others = (powers.sum() - 1) / max(1, len(powers) - 1) * _OTHERS
    return float(scores.max()) + _SCALE * math.log1p(others)


def _dates_missing(features: SentenceFeatures) -> int:
    """How many months and numbers of the question no document has that sentences were read of.

    A number may be in words, a month in a date.
    """
    missing = {*_DATED.findall(features.question)}
    for document in {one.document.id: one.document for one in features.sentences}.values():
        missing -= _told(document, missing)
    read = " ".join(one.read for one in features.sentences) if missing else ""
    numbers = {one.norm for one in tokenize(read)}
    return sum(each.replace(",", "") not in numbers for each in missing)


def _told(document: Document, dated: Iterable[str]) -> set[str]:
    """Those of some months and numbers that a document has."""
    text = f"{document.title} {document.text}"
    found = set()
    for one in dated:
        number = MONTH_NUMBERS.get(one.lower())
        spelled = re.escape(one) if number is None else rf"(?i:{one})"
        forms = [rf"(?<!\w){spelled}" + (r"(?!\w)" if number is None else "")]
        if number is not None:
            forms.append(rf"-0?{number}-|[./ ]0?{number}[./]")
        day = number is not None and document.occasion.day[5:7] == f"{number:02d}"
        if day or re.search("|".join(forms), text):
            found.add(one)
    return found
