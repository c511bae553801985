"""What a language model gets to read of the evidence: where the reader thinks that it answers.

Few of the retriever's best passages answer, and a language model on a CPU reads some dozen tokens a
second. So a small prompt gets the sentences that rank best as an answer (`ranking`), each with its
neighbours, instead of whole passages; docs/notebook/experiments.md has what that loses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generator.evidence import Evidence, Sentence, Span
from generator.extractive.features import SentenceFeatures
from generator.extractive.ranking import Ranking

BEFORE, AFTER = 1, 2
"""Sentences around one that ranks well, which are read with it."""
FEW = 1500
"""Tokens of a prompt below which it gets sentences instead of passages."""

_GAP = 120  # characters between neighbours: a speaker's label, a blank line


def best_stretches(evidence: Evidence, features: SentenceFeatures, *, tokens: int) -> Evidence:
    """The evidence for a prompt: its best sentences with their neighbours, or its passages."""
    if tokens >= FEW:
        return Evidence(evidence.best(), evidence.whole)
    sentences, ranking = features.sentences, Ranking.of(features)
    scores, replaced = ranking.scores, ranking.replaced
    spans: list[Span] = []
    for i in map(int, np.argsort(-scores, kind="stable")):
        if i in replaced or not np.isfinite(scores[i]):
            continue
        if not any(_covers(span, sentences[i]) for span in spans):
            alone = evidence.speaker is not None  # between a person's sentences others speak
            first, last = (i, i) if alone else _neighbours(sentences, i, without=replaced)
            start, end = _start(sentences[first]), sentences[last].end
            spans.append(Span(sentences[i].document, start, end, float(scores[i])))
    return Evidence(tuple(spans), evidence.whole)


def _neighbours(
    sentences: Sequence[Sentence], at: int, *, without: frozenset[int]
) -> tuple[int, int]:
    """The first and the last sentence that are read with one."""

    def follows(i: int, j: int) -> bool:
        inside = i >= 0 and j < len(sentences) and not ({i, j} - {at}) & without
        return inside and _follows(sentences[i], sentences[j])

    first = last = at
    while at - first < BEFORE and follows(first - 1, first):
        first -= 1
    while last - at < AFTER and follows(last, last + 1):
        last += 1
    return first, last


def _follows(one: Sentence, other: Sentence) -> bool:
    return one.document.id == other.document.id and 0 <= other.start - one.end <= _GAP


def _start(sentence: Sentence) -> int:
    """Where a sentence begins, or its utterance with its label where it is the first of it."""
    utterance = sentence.document.utterance_at(sentence.start)
    if utterance is not None and utterance.text_start >= sentence.start:
        return utterance.start
    return sentence.start


def _covers(span: Span, sentence: Sentence) -> bool:
    same = span.document.id == sentence.document.id
    return same and span.start <= sentence.start and sentence.end <= span.end
