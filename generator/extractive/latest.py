"""The latest word: of statements on the same matter, those of later documents count for more.

"When is the launch?" is answered by four meetings with four dates, and the last of them holds.
Sentences are on the same matter where they are nearly as good as the best one, have as much of the
question, and hold a value of the kind that it asks for; a sentence that tells of a change is more
likely to be the last word than one that only mentions the matter. Documents are ordered by their
day, as the file says it or as their first lines do; one without any date stands in the middle. A
question about what was once so asks for no latest word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from generator.evidence import Sentence, Vectors
from generator.extractive.features import SentenceFeatures
from generator.extractive.question.answer_slot import asked_slot, fills
from indexing.documents import Document
from indexing.text.days.stated_date import stated_date

_LATER, _CHANGED = 3.0, 1.0  # what the last document and the telling of a change are worth
_NEAR = 4.0  # how far below the best score a sentence may be that is on the same matter
_COVERED = 0.6  # of what the best sentence has of the question, at least
_UNDATED = 0.5  # where a document without a date stands, 0 to 1
_ONCE = re.compile(
    r"\b(?:originally|(?:at|the|was) first|initial(?:ly)?|previous(?:ly)?|earlier|earliest"
    r"|former(?:ly)?|used to|old|before|back (?:in|then)|until now|no longer"
    r"|at the (?:kick-?off|beginning|start|time|outset)|to (?:begin|start) with"
    r"|ursprünglich\w*|zuerst|zunächst|anfangs|früher\w*|vorher|bisher\w*|damals|ehemalig\w*)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"\W*(?:who|what|which|where|wer|was|welche\w*|wo)\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:now|instead|mov(?:ed?|es)|chang(?:ed?|es)|put (?:off|back|forward)|postponed?"
    r"|no longer|in place of|replaces?|revised|new|(?:but|and) not|resolved|decided|agreed|reduced"
    r"|raised|increased|(?:down|up) from|after all|stays|confirmed|takes over"
    r"|in (?:his|her|their) place|from .{3,40} to"
    r"|jetzt|neue?[nrms]?|nun|statt|anstelle|verschoben|geändert|beschlossen|bestätigt|übernimmt"
    r"|gesenkt|erhöht|nicht mehr)\b",
    re.IGNORECASE,
)


def asks_for_the_past(question: str) -> bool:
    """Whether a question asks for what was once so."""
    return _ONCE.search(question) is not None


def statements(features: SentenceFeatures, scores: Vectors) -> dict[int, float]:
    """The sentences that compete for the latest word, by index: how late each is, 0 to 1.

    Args:
        features: Of the sentences.
        scores: (n,) how well each answers, whenever it was said.
    """
    slot = asked_slot(features.question)
    asks = slot is not None or _FACT.match(features.question) is not None
    if not asks or asks_for_the_past(features.question) or not np.isfinite(scores).any():
        return {}
    best = int(scores.argmax())
    covered = features.coverage >= _COVERED * features.coverage[best]
    near = map(int, np.flatnonzero((scores >= scores[best] - _NEAR) & covered))
    read = {i: features.sentences[i].read for i in near}
    matter = [i for i, text in read.items() if not slot or fills(slot, features.question, text)]
    late = recency([features.sentences[i] for i in matter])
    return dict(zip(matter, late, strict=True))


def latest_scores(features: SentenceFeatures, late: Mapping[int, float]) -> Vectors:
    """(n,) what is added to the score of each sentence for being the latest word.

    Args:
        features: Of the sentences.
        late: How late each statement is, by index.
    """
    added = np.zeros(len(features.sentences), np.float32)
    for i, later in late.items():
        changed = _CHANGE.search(features.sentences[i].read) is not None
        added[i] = _LATER * later + _CHANGED * changed
    return added


def adds_nothing(features: SentenceFeatures, i: int, told: Collection[int]) -> bool:
    """Whether a statement only repeats values of others of its document.

    Args:
        features: Of the sentences.
        i: The statement's index.
        told: The indexes of statements that are told before it.
    """
    slot, sentence = asked_slot(features.question), features.sentences[i]
    others = (features.sentences[j] for j in told)
    before = " ".join(one.read for one in others if one.document.id == sentence.document.id)
    return slot is not None and before != "" and not fills(slot, before, sentence.read)


def recency(sentences: Sequence[Sentence]) -> list[float]:
    """How late each sentence's document is among all of them, 0 to 1; 0 where all are alike."""
    days = document_days({one.document.id: one.document for one in sentences})
    order = sorted({day for day in days.values() if day})
    if len(order) < 2:
        return [0.0] * len(sentences)
    place = {day: number / (len(order) - 1) for number, day in enumerate(order)} | {"": _UNDATED}
    return [place[days[one.document.id]] for one in sentences]


def document_days(documents: Mapping[str, Document]) -> dict[str, str]:
    """The day or month of each document in ISO 8601, by id; "" for one that says none."""
    known = {id_: one.occasion.day for id_, one in documents.items()}
    years = {int(day[:4]) for day in known.values() if day}
    return {
        id_: known[id_] or stated_date(one.title, one.text, years=years)
        for id_, one in documents.items()
    }
