"""The latest word: of statements on the same matter, those of later documents count for more.

"When is the launch?" is answered by four meetings with four dates, and the last of them holds.
How late a sentence is said, beside all that may answer, is told in numbers (`latest_features`),
which the ranking weighs beside all else. What is shown together are statements on the same matter
(`statements`): nearly as good as the best one, with as much of the question and a value of the kind
that it asks for. Documents are ordered by their day, as the file says it or as their first lines
do; one without any date stands in the middle. A question about what was once so asks for no latest
word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from generator.answer import Citation
from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures, weighted_share
from generator.extractive.non_prose import is_of_itself
from generator.extractive.question.answer_slot import asked_slot, fills
from generator.extractive.question.answer_type import classify_question
from generator.extractive.question.moment import asked_moment
from generator.extractive.question.two_questions import asks_twice
from indexing.documents import Document
from indexing.text.change_words import AGREED, CHANGE, KEPT, NUMBER, PAST, TALK
from indexing.text.days.dates import date_in
from indexing.text.days.stated_date import MONTH, stated_date
from indexing.text.terms import content_stems, topic_words

_LATER, _CHANGED = 5.0, 1.0  # what the last document and the telling of a change are worth, unread
_IDLE = 3.0  # what talk of a value that does not hold is worth less, unread
_IDLE_READ = 2.0  # the same, where a reader has read
_MAY_ANSWER, _FAR = 1.5, 15.0  # scale in which sentences count that may answer; and none does below
_NEAR = 4.0  # how far below the best score a sentence may be that is on the same matter
_NEAR_OF_COURSE = 8.0  # where all statements are asked for, whenever they were said
_NEAR_UNCHANGED = 1.5  # the same, if it tells of no change
_COVERED = 0.6  # of what the best sentence has of the question, at least
_REPLACED = 0.6  # of the words for a value that a change replaced, that stand for the value
_UNDATED = 0.5  # where a document without a date stands, 0 to 1
_FACT = re.compile(r"\W*(?:who|what|which|where|wer|was|welche\w*|wo)\b", re.IGNORECASE)
_WHEN = re.compile(
    rf"takes?|place|held|hold|plan(?:ned)?|scheduled?|dates?|days?|numbers?|amount|chang\w+|develop\w*"
    rf"|now|currently|present|final|latest|time|{MONTH}|\d{{4}}|statt\w*|derzeit|aktuell\w*|jetzt|datum|tag"
)
_NAME = re.compile(r"\b[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class Statements:
    """The sentences that compete for the latest word.

    Attributes:
        late: How late each is, 0 to 1, by index. Where a question asks for what held in a month,
            those of later documents are below 0.
        idle: Those that talk of a value which does not hold.
        course: Whether all of them are asked for, from the earliest to the latest.
    """

    late: Mapping[int, float] = field(default_factory=dict)
    idle: frozenset[int] = frozenset()
    course: bool = False

    def holds(self, some: Iterable[int]) -> bool:
        """Whether sentences are all of the matter, and say what held when it is asked for."""
        return all(self.late.get(i, -1.0) >= 0 and i not in self.idle for i in some)


def statements(features: SentenceFeatures, scores: Vectors, days: Mapping[str, str]) -> Statements:
    """The sentences on the matter that a question asks for, of all documents.

    Args:
        features: Of the sentences.
        scores: (n,) how well each answers, whenever it was said.
        days: Of the documents, as of `document_days`.
    """
    moment = asked_moment(features.question, days.values())
    slot = asked_slot(features.question)
    if not _asks(features.question) or moment.kind == "once" or not np.isfinite(scores).any():
        return Statements()
    told = np.array(
        [not (is_of_itself(one) or one.text.rstrip().endswith("?")) for one in features.sentences]
    )
    best = int(np.where(told, scores, -np.inf).argmax())
    coverage = _of_matter(features)
    covered = coverage >= _COVERED * coverage[best]
    whole = moment.kind == "course" and not asks_twice(features.question)
    reach = _NEAR_OF_COURSE if whole else _NEAR
    near = map(int, np.flatnonzero((scores >= scores[best] - reach) & covered & told))
    read = {
        i: text
        for i in near
        for text in [features.sentences[i].read]
        if moment.kind in {"course", "then"}
        or scores[i] >= scores[best] - _NEAR_UNCHANGED
        or _tells_of_change(text)
    }
    matter = [i for i, text in read.items() if not slot or fills(slot, features.question, text)]
    at = {i: features.sentences[i] for i in matter}
    of_matter = {i: _day_at(one.document, one.start, days) for i, one in at.items()}
    late = recency(of_matter)
    if moment.kind == "then":
        known = {i: day for i, day in of_matter.items() if day[:7] <= moment.month}
        names_it = re.compile(rf"\b{moment.words}\b", re.IGNORECASE)
        late = recency(known) | {
            i: 0.0 if names_it.search(read[i]) else -1.0 for i in of_matter if i not in known
        }
    agreed = {
        i for i, after in features.neighbours if AGREED.search(features.sentences[after].read)
    }
    talk = {
        i
        for i in late
        if (TALK.search(read[i]) and not KEPT.search(read[i]) and i not in agreed)
        or (PAST.search(read[i]) and not CHANGE.search(read[i]))
    }
    return Statements(late, frozenset(talk | _replaced(features, late)), moment.kind == "course")


def latest_features(
    features: SentenceFeatures, scores: Vectors, days: Mapping[str, str]
) -> dict[str, Vectors]:
    """How late each of n sentences is said, beside those that may answer: (n,) by name.

    "later" is the share of what may answer that is of earlier days, less that of later ones, -1 to
    1; "further on" the same within its document; "after" is 1 for what is said after the month that
    is asked about.

    Args:
        features: Of the sentences.
        scores: (n,) how well each answers, whenever it was said; -inf where it does not.
        days: Of the documents, as of `document_days`.
    """
    count = len(features.sentences)
    said = [_day_at(one.document, one.start, days) for one in features.sentences]
    moment = asked_moment(features.question, days.values())
    after = np.zeros(count, np.float32)
    if moment.kind == "then":
        names_it = re.compile(rf"\b{moment.words}\b", re.IGNORECASE)
        after = np.array(
            [
                day[:7] > moment.month and not names_it.search(one.read)
                for day, one in zip(said, features.sentences, strict=True)
            ],
            np.float32,
        )
    share = _may_answer(features, np.where(after, -np.inf, scores))
    order = {day: number for number, day in enumerate(sorted({*said} - {""}))}
    at = np.array([order.get(day, -1) for day in said])
    documents = np.unique([one.document.id for one in features.sentences], return_inverse=True)[1]
    starts = np.array([one.start for one in features.sentences])
    known = (at >= 0)[:, None] & (at >= 0)
    later = _balance((at[:, None] > at) & known, share)
    further = _balance((documents[:, None] == documents) & (starts[:, None] > starts), share)
    asks, slot = _asks(features.question), asked_slot(features.question)
    read = [one.read for one in features.sentences]
    changes = np.array([CHANGE.search(text) is not None for text in read], np.float32)
    filled = np.array([bool(slot and fills(slot, features.question, text)) for text in read])
    once, fact = moment.kind == "once", asks and moment.kind in {"now", "then"}
    lacks = np.maximum(later, 0) * (slot is not None) * ~filled
    return {
        "later": later * fact,
        "later, of no fact": later * (not asks and not once),
        "later, asked for once": later * once,
        "further on": further * fact,
        "later, a change": later * changes * fact,
        "later, with a value": later * filled * fact,
        "later, without one": lacks * fact,
        "after": after,
    }


def _may_answer(features: SentenceFeatures, scores: Vectors) -> Vectors:
    """(n,) the share of each in what may answer; none of questions, and of talk of the file."""
    kept = np.full(len(scores), -np.inf, np.float32)
    for i in map(int, np.flatnonzero(scores >= scores.max(initial=-np.inf) - _FAR)):
        one = features.sentences[i]
        if not (one.text.rstrip().endswith("?") or is_of_itself(one)):
            kept[i] = scores[i]
    best = kept.max(initial=-np.inf)
    if not np.isfinite(best):
        return np.zeros(len(scores), np.float32)
    powers = np.exp((kept - best) / _MAY_ANSWER)
    return np.asarray(powers / powers.sum(), np.float32)


def _balance(above: NDArray[np.bool_], share: Vectors) -> Vectors:
    """(n,) the share of those that each is above, less that of those above it."""
    return np.asarray(above @ share - above.T @ share, np.float32)


def latest_scores(features: SentenceFeatures, told: Statements) -> Vectors:
    """(n,) what is added to the score of each sentence, by hand, where no reader has read."""
    added = np.zeros(len(features.sentences), np.float32)
    for i, later in told.late.items():
        changed = later >= 0 and _tells_of_change(features.sentences[i].read)
        added[i] = -_IDLE if i in told.idle else _LATER * later + _CHANGED * changed
    return added


def idle_loss(features: SentenceFeatures, told: Statements) -> Vectors:
    """(n,) what talk of a value that does not hold is worth less, beside a statement that does.

    "Somebody was proposed and elected" is no such talk where a person is asked for.
    """
    loss = np.zeros(len(features.sentences), np.float32)
    holds = any(later >= 0 and i not in told.idle for i, later in told.late.items())
    if holds and not told.course and classify_question(features.question) != "person":
        loss[list(told.idle)] = _IDLE_READ
    return loss


def _tells_of_change(text: str) -> bool:
    """Whether a sentence says that something changed, or that it stays as it is."""
    return (CHANGE.search(text) or KEPT.search(text)) is not None


def _replaced(features: SentenceFeatures, late: Mapping[int, float]) -> set[int]:
    """Statements that still have a value which an earlier one, or one of their day, replaced.

    The sentence of a change shares the words of the old value with an earlier statement, and has
    those of the new one besides.
    """
    said = {i: _value_words(features, i) for i in late}
    read = {i: features.sentences[i].read for i in late}
    changes = {i for i in late if CHANGE.search(read[i]) and not KEPT.search(read[i])}
    least = _REPLACED if _kind(features.question) is None else 1.0
    stale: set[int] = set()
    for change in changes:
        before = [said[i] for i in late if late[i] < late[change]]
        old = set().union(*(said[change] & each for each in before))
        new = said[change] - old
        for i in late.keys() - changes if old and new else ():
            had, has = len(said[i] & old) / len(old), len(said[i] & new) / len(new)
            if late[i] >= late[change] and had >= least and has < 0.5:
                stale.add(i)
    return stale


def _value_words(features: SentenceFeatures, i: int) -> set[str]:
    """The words of a sentence that may be of a value: numbers and dates, names, or all."""
    question, text = features.question, features.sentences[i].read
    kind = _kind(question)
    if kind is None:
        return set(features.stems[i]) - set(content_stems(features.query, features.language))
    return {*kind.findall(text)} - {*kind.findall(question)}


def _kind(question: str) -> re.Pattern[str] | None:
    """What words of the kind of value look like that is asked for; None where that is not told."""
    if asked_slot(question) is not None:
        return NUMBER
    return _NAME if classify_question(question) == "person" else None


def _of_matter(features: SentenceFeatures) -> Vectors:
    """(n,) how much each sentence has of what a question is about, without words of asking when."""
    topic = topic_words(features.query, features.language)
    about = np.array([_WHEN.fullmatch(word) is None for word in topic], bool)
    weights = features.word_weights * about
    if not weights.any():
        return features.coverage
    share = weighted_share(features.word_similarity, weights / weights.sum())
    return np.asarray(share, np.float32)


def adds_nothing(features: SentenceFeatures, i: int, told: Collection[int]) -> bool:
    """Whether a statement only repeats values of others of its document."""
    slot, sentence = asked_slot(features.question), features.sentences[i]
    others = (features.sentences[j] for j in told)
    before = " ".join(one.read for one in others if one.document.id == sentence.document.id)
    return slot is not None and before != "" and not fills(slot, before, sentence.read)


def _asks(question: str) -> bool:
    """Whether a question asks for a fact, which may have changed."""
    course = asked_moment(question, ()).kind == "course"
    return course or asked_slot(question) is not None or _FACT.match(question) is not None


def recency(days: Mapping[int, str]) -> dict[int, float]:
    """How late each of some days is among them, 0 to 1; 0 where all are alike."""
    order = sorted({day for day in days.values() if day})
    if len(order) < 2:
        return dict.fromkeys(days, 0.0)
    place = {day: number / (len(order) - 1) for number, day in enumerate(order)} | {"": _UNDATED}
    return {i: place[day] for i, day in days.items()}


def document_days(documents: Mapping[str, Document]) -> dict[str, str]:
    """The day or month of each document in ISO 8601, by id; "" for one that says none."""
    known = {
        id_: one.occasion.day or stated_date(one.title, one.text) for id_, one in documents.items()
    }
    years = {int(day[:4]) for day in known.values() if day}
    return {
        id_: known[id_] or stated_date(one.title, one.text, years=years, today=date.today())
        for id_, one in documents.items()
    }


def _day_at(document: Document, start: int, days: Mapping[str, str]) -> str:
    """The day of what stands there: of a mail that is quoted, its own, else the document's."""
    place = document.place_at(start) or ""
    return (date_in(place)[:10] if place.startswith("mail ") else "") or days[document.id]


def with_days(
    citations: Sequence[Citation], documents: Iterable[Document], question: str
) -> list[Citation]:
    """Citations with the days of their documents, and which are earlier than the first."""
    known = {one.id: one for one in documents}
    days = document_days(known)
    of = [
        _day_at(known[one.document], one.start, days) if one.document in known else ""
        for one in citations
    ]
    cited = {(one.document, day) for one, day in zip(citations, of, strict=True)}
    changes = len(cited) > 1 and _asks(question)
    dated: list[Citation] = []
    for citation, day in zip(citations, of, strict=True):
        length = min(len(day), len(of[0]))  # of a month, when that is all that is known
        order: Literal["", "earlier", "later", "undated"] = ""
        if not day and (changes or any(of)):
            order = "undated"
        elif day[:length] != of[0][:length]:
            order = "earlier" if day < of[0] else "later"
        dated.append(replace(citation, day=day, order=order))
    return dated
