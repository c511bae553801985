"""The score of a sentence of evidence: a weighted sum of its features.

Its similarity to the question, as a whole and word by word; what was said right before it (a reply
follows its question); how good its passage is; whether the question names its speaker; whether it
holds the type of answer that is asked for (a time for "when"); how much it says that the question
does not; its score when it is encoded with its context (`late_chunking`); and what the reader says
of it, of the words in it that may answer, and of the stretch around it (`generator.reader`). Of
rows of a table, those come first that the question names (`table_rows`), of documents those whose
title it names (`named_document`). What is no prose, as an entry in a list of references, comes
after what is (`non_prose`).

The weights are those of a softmax over a question's sentences (a conditional logit: McFadden,
1974). All but the reader's were fitted, and rounded, on 65 real meeting questions and the first
sample questions; their sum is joined with the reader's two by numbers that were chosen on other
texts. docs/notebook/experiments.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generator.evidence import Sentence, Vectors
from generator.extractive.definitions import defines
from generator.extractive.features import SentenceFeatures
from generator.extractive.fitted import FITTED
from generator.extractive.latest import (
    Statements,
    document_days,
    idle_loss,
    latest_features,
    latest_scores,
    statements,
)
from generator.extractive.named_document import titles_named
from generator.extractive.non_prose import names_only, non_prose
from generator.extractive.question.answer_slot import asked_slot, fills
from generator.extractive.question.answer_type import AnswerType, classify_question, has_answer_type
from generator.extractive.question.asks_for_several import asks_for_several
from generator.extractive.question.moment import asked_moment
from generator.extractive.table_rows import row_scores
from indexing.text.terms import content_stems

_MOST_NEW_STEMS = 12
_LEAST_STEMS = 2  # of content words; drops "Okay ." and "{vocalsound}"
_NON_PROSE = 4.0  # what an entry of a list of references has to be better by than a sentence
_LACKS = {"phone": 4.0, "identifier": 4.0, "money": 2.0, "clock": 2.0}  # by the kind of value
_LISTS = 1.5  # what a list is worth where several things are asked for
_DEFINES = 3.0  # what a definition is worth where one is asked for
_NAMED = 1.5  # what each name is worth that the question has of a document's title
_LONG = 40  # words, from which a sentence is no longer than another
_RELEVANCE, _WORDS = (-8.0, 3.0), (-14.0, 6.0)  # bounds of what the reader says; see `_relevance`

Weights = Mapping[str, float]
"""By the names of features."""


def sentence_scores(features: SentenceFeatures, weights: Weights | None = None) -> Vectors:
    """(n,) the weighted sum for each sentence; -inf for headings and those without content.

    Args:
        features: Of the sentences.
        weights: By the names of `FEATURES`; None for those that ship.
    """
    if not features.sentences:
        return np.zeros(0, np.float32)
    weights = weights or (FITTED.sentence if features.is_read else WEIGHTS_UNREAD)
    scores = np.zeros(len(features.sentences), np.float32)
    for name, weight in weights.items():
        scores += weight * FEATURES[name](features)
    scores += row_scores(features) - _NON_PROSE * non_prose(features) - _lacks_value(features)
    scores += _LISTS * enumerates(features) + _DEFINES * defines(features)
    scores += _NAMED * titles_named(features)
    has_content = np.array(
        [
            len(set(stems)) >= _LEAST_STEMS and not names_only(sentence)
            for sentence, stems in zip(features.sentences, features.stems, strict=True)
        ],
        bool,
    )
    return np.asarray(np.where(has_content | ~has_content.any(), scores, -np.inf), np.float32)


@dataclass(frozen=True, slots=True)
class Ranking:
    """By which sentences are quoted.

    Attributes:
        scores: (n,) `sentence_scores` and `ranking_features`, weighted: but for a constant the
            logarithm of how likely each is the one that answers.
        statements: The sentences on a matter that changes.
    """

    scores: Vectors
    statements: Statements

    @classmethod
    def of(cls, features: SentenceFeatures, weights: Weights | None = None) -> Ranking:
        """Of all sentences; arguments as of `sentence_scores`.

        The weights were fitted on folders of dated documents whose facts change
        (training/reader/fit_latest.py); what follows the month that is asked about has one by hand,
        and where no reader has read, the latest word leads by the rules of `statements`.
        """
        before = sentence_scores(features, weights)
        if not len(before):
            return cls(before, Statements())
        days = document_days({one.document.id: one.document for one in features.sentences})
        if not features.is_read:
            told = statements(features, before, days)
            return cls(np.asarray(before + latest_scores(features, told), np.float32), told)
        scores = FITTED.ranking["score"] * before
        for name, value in ranking_features(features, before, days).items():
            scores += FITTED.ranking[name] * value
        course = asked_moment(features.question, ()).kind == "course"  # all, whenever it was said
        told = statements(features, before if course else scores, days)
        return cls(np.asarray(scores - idle_loss(features, told), np.float32), told)

    @property
    def replaced(self) -> frozenset[int]:
        """The statements that the best sentence, a later one on the same matter, has replaced."""
        late, best = self.statements.late, int(self.scores.argmax()) if len(self.scores) else 0
        if self.statements.course or best not in late:
            return frozenset()
        return frozenset(i for i, when in late.items() if when < late[best])


def ranking_features(
    features: SentenceFeatures, scores: Vectors, days: Mapping[str, str]
) -> dict[str, Vectors]:
    """What counts beside the score of each of n sentences that were read: (n,) by name.

    Arguments as of `latest_features`.
    """
    sizes = np.array([len(one.read.split()) for one in features.sentences], np.float32)
    spoken = np.array([one.utterance is not None for one in features.sentences], np.float32)
    return {
        "coverage": features.coverage,
        "size": np.asarray(np.minimum(sizes, _LONG) / _LONG, np.float32),
        "spoken": spoken,
        **latest_features(features, scores, days),
    }


def answer_scores(features: SentenceFeatures, weights: Weights | None = None) -> Vectors:
    """(n,) by which sentences are quoted; arguments as of `sentence_scores`."""
    return Ranking.of(features, weights).scores


def probabilities(scores: Vectors) -> Vectors:
    """(n,) that each sentence is the one that answers, if one does: the softmax of the scores."""
    powers = np.exp(scores - scores.max(initial=-np.inf))
    return np.asarray(powers / powers.sum(), np.float32)


def _passage(features: SentenceFeatures) -> Vectors:
    """(n,) what the retriever scores each sentence's passage below the best one."""
    scores = np.array([sentence.score for sentence in features.sentences], np.float32)
    return np.asarray(scores - scores.max(), np.float32)


def _before(features: SentenceFeatures, values: Vectors) -> Vectors:
    """(n,) the value of the sentence before each; the mean where there is none."""
    previous = np.full(len(values), values.mean(), np.float32)
    for before, after in features.neighbours:
        previous[after] = values[before]
    return previous


def _lacks_value(features: SentenceFeatures) -> Vectors:
    """(n,) what a sentence is worth less for having no value of the kind that is asked for.

    Of kinds that few sentences have: a telephone number, a sum of money, a time of day.
    """
    slot = asked_slot(features.question)
    loss = _LACKS.get(slot.name, 0.0) if slot else 0.0
    if slot is None or not loss:
        return np.zeros(len(features.sentences), np.float32)
    found = [fills(slot, features.question, one.read) for one in features.sentences]
    return loss * (1 - np.array(found, np.float32))


def _novelty(features: SentenceFeatures) -> Vectors:
    """(n,) stems that the question does not have, as a share of the most that count."""
    known = set(content_stems(features.query, features.language))
    new = [min(len(set(stems) - known), _MOST_NEW_STEMS) for stems in features.stems]
    return np.asarray(np.array(new, np.float32) / _MOST_NEW_STEMS, np.float32)


def _is_question(features: SentenceFeatures) -> Vectors:
    """(n,) 1 for a sentence that is a question itself."""
    return np.array([one.text.rstrip().endswith("?") for one in features.sentences], np.float32)


def _answers(kind: AnswerType) -> Callable[[SentenceFeatures], Vectors]:
    """(n,) 1 for a sentence that holds the type of answer, where the question asks for it."""

    def held(features: SentenceFeatures) -> Vectors:
        if classify_question(features.question) != kind:
            return np.zeros(len(features.sentences), np.float32)
        found = [has_answer_type(kind, one.text) for one in features.sentences]
        return np.array(found, np.float32)

    return held


def _contextual(features: SentenceFeatures) -> Vectors:
    if features.contextual is None:
        return np.zeros(len(features.sentences), np.float32)
    return features.contextual


def _relevance(features: SentenceFeatures) -> Vectors:
    """(n,) the reader's logit that each sentence answers.

    Of sentences that answer all but surely, how sure says little of which is the answer.
    """
    assert features.reading is not None
    return np.asarray(np.clip(features.reading.relevance, *_RELEVANCE), np.float32)


def _words(features: SentenceFeatures) -> Vectors:
    """(n,) the reader's score of the best words in each sentence."""
    assert features.reading is not None
    return np.asarray(np.clip(features.reading.spans, *_WORDS), np.float32)


FEATURES: Mapping[str, Callable[[SentenceFeatures], Vectors]] = {
    "similarity": lambda features: features.similarity,
    "coverage": lambda features: features.coverage,
    "previous similarity": lambda features: _before(features, features.similarity),
    "passage": _passage,
    "speaker named": lambda features: _speaker_named(features.query, features.sentences),
    "novelty": _novelty,
    "question": _is_question,
    "reason": _answers("reason"),
    "time": _answers("time"),
    "quantity": _answers("quantity"),
    "person": _answers("person"),
    "in context": _contextual,
    "relevance": _relevance,
    "words": _words,
}
"""What is known of each of n sentences: (n,) by name."""

WEIGHTS_UNREAD: Weights = {
    "similarity": 1.6,
    "coverage": 1.6,
    "previous similarity": 1.0,
    "passage": 0.4,
    "speaker named": 1.4,
    "novelty": 0.6,
    "question": -0.6,
    "reason": 0.6,
    "time": 1.8,
    "quantity": 1.4,
    "person": 0.8,
    "in context": 0.4,
}
"""Weights where there is no reader, or none that was trained on the question's language."""


def _speaker_named(question: str, sentences: Sequence[Sentence]) -> Vectors:
    """(n,) 1 where the question names the speaker."""
    speakers = {sentence.speaker or "" for sentence in sentences}
    named = {speaker: float(_names(question, speaker, speakers)) for speaker in speakers}
    return np.array([named[sentence.speaker or ""] for sentence in sentences], np.float32)


def _names(question: str, speaker: str, speakers: Iterable[str]) -> bool:
    """Whether the question has the speaker's label, or a part of it that no other speaker has.

    A label of one letter counts only as a capital, a part only as a capitalised word.
    """
    if not speaker.strip() or (speaker == "A" and re.match(r"\s*A\b", question)):
        return False
    flags = re.IGNORECASE if len(speaker) > 1 else re.NOFLAG
    if re.search(rf"(?<!\w){re.escape(speaker)}(?!\w)", question, flags):
        return True
    capitalised = set(re.findall(r"(?<!^)\b[A-Z]\w{2,}", question))
    parts = capitalised & set(speaker.split())
    return any(sum(part in other.split() for other in speakers) == 1 for part in parts)


_ITEM = r"[^,;:|]{2,60}"
_LISTED = re.compile(
    rf"(?:{_ITEM}[,;] ){{2,}}|: {_ITEM}, {_ITEM}|, {_ITEM},? (?:and|und) ", re.IGNORECASE
)


def enumerates(features: SentenceFeatures) -> Vectors:
    """(n,) 1 for a sentence that lists things, where the question asks for several.

    "Which drugs are kept in the cabinet?" is answered by "Methadone, fentanyl, pethidine.", in
    which neither encoder nor reader sees much.
    """
    if not asks_for_several(features.question):
        return np.zeros(len(features.sentences), np.float32)
    return np.array([bool(_LISTED.search(one.read)) for one in features.sentences], np.float32)
