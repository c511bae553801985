"""Extractive answers: verbatim sentences of the evidence, so they cannot say what no document says.

A sentence's score is a weighted sum: its similarity to the question, as a whole and word by word;
what was said right before it (a reply follows its question); how good its passage is; whether the
question names its speaker; whether it holds the type of answer that is asked for (a time for
"when"); how much it says that the question does not; and its score when it is encoded with its
context (`late_chunking`). Sentences are taken best first until the answer is long enough; those
that follow on each other in one utterance become one quote.

The weights are those of a softmax over a question's sentences (a conditional logit: McFadden,
1974), fitted to the sentences that hold the sample questions' evidence, and with less weight to 65
real meeting questions (QMSum's training split), then rounded. docs/experiments.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from generator.answer import Citation
from generator.evidence import Sentence, Vectors
from generator.extractive.answer_type import AnswerType, classify_question, has_answer_type
from generator.extractive.features import SentenceFeatures
from indexing.text.terms import content_stems

# Weights of the features.
_SIMILARITY = 4.0  # cosine of question and sentence
_COVERAGE = 4.0  # share of the question's words that it has, or has the like of
_PREVIOUS_SIMILARITY = 2.5  # cosine of question and the sentence before
_PASSAGE = 1.0  # what the retriever scores its passage below the best one
_SPEAKER_NAMED = 3.5
_CONTEXTUAL = 1.0  # its score when it is encoded with its context
_NOVELTY = 1.5  # stems that the question does not have, up to _MOST_NEW_STEMS
_IS_QUESTION = -1.5  # it is one itself
_ANSWER_TYPE: dict[AnswerType, float] = {
    "reason": 1.5,
    "time": 4.5,
    "quantity": 3.5,
    "person": 2.0,
}

_MOST_NEW_STEMS = 12
_LEAST_STEMS = 2  # of content words; drops "Okay ." and "{vocalsound}"
_SLACK = 1.15  # how far the last sentence may cross the length


@dataclass(frozen=True, slots=True)
class QuoteLength:
    """How long an answer of quotes may be.

    Attributes:
        quotes: Most quotes; a quote is of one or more sentences of one utterance.
        words: Most words, give or take 15 %; the first sentence may be longer.
        drop: A sentence that scores below the best one by more than this is left out.
    """

    quotes: int = 5
    words: int = 90
    drop: float = 4.0


def select_quotes(features: SentenceFeatures, *, length: QuoteLength) -> list[Sentence]:
    """The quotes that answer the question, in reading order, better documents first.

    Args:
        features: Of the evidence sentences.
        length: Of the answer.
    """
    sentences, scores = features.sentences, _scores(features)
    selection: list[int] = []
    texts: set[str] = set()
    words = 0
    best = scores.max(initial=-np.inf)
    for i in map(int, np.argsort(-scores, kind="stable")):
        if not np.isfinite(scores[i]) or scores[i] < best - length.drop or words >= length.words:
            break
        text = " ".join(sentences[i].text.split())
        size = len(text.split())
        if text in texts or (selection and words + size > _SLACK * length.words):
            continue
        if len(_merge(sentences[j] for j in (*selection, i))) > length.quotes:
            continue
        selection.append(i)
        texts.add(text)
        words += size
    documents = list(dict.fromkeys(sentences[i].document.id for i in selection))
    quotes = _merge(sentences[i] for i in selection)
    return sorted(quotes, key=lambda quote: (documents.index(quote.document.id), quote.start))


def rank_sentences(features: SentenceFeatures, *, most: int = 12) -> list[Sentence]:
    """The best sentences, best first; those a language model may choose quotes from."""
    scores = _scores(features)
    order = np.argsort(-scores, kind="stable")[:most]
    return [features.sentences[i] for i in map(int, order) if np.isfinite(scores[i])]


def closest_quotes(features: SentenceFeatures, *, most: int = 3) -> tuple[Citation, ...]:
    """The sentences that come closest to an answer, best first, for when none is one.

    Those that follow on each other are one quote; none is verified, as none supports anything.
    """
    by_text: dict[str, Sentence] = {}
    for sentence in rank_sentences(features):
        by_text.setdefault(" ".join(sentence.text.split()), sentence)
    best = list(by_text.values())[:most]
    quotes = sorted(_merge(best), key=lambda quote: min(map(best.index, _within(quote, best))))
    return tuple(
        replace(build_citation(quote, marker, ""), verified=False)
        for marker, quote in enumerate(quotes, start=1)
    )


def _within(quote: Sentence, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentences that a quote is made of."""
    for one in sentences:
        if one.document.id == quote.document.id and quote.start <= one.start < quote.end:
            yield one


def _merge(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Sentences that follow on each other in one utterance, or one line, as one quote."""
    quotes: list[Sentence] = []
    for sentence in sorted(sentences, key=lambda one: (one.document.id, one.start)):
        if quotes and _follows(quotes[-1], sentence):
            quotes[-1] = replace(quotes[-1], end=sentence.end)
        else:
            quotes.append(sentence)
    return quotes


def _follows(before: Sentence, after: Sentence) -> bool:
    """Whether nothing but white space of one paragraph is between them."""
    if before.document.id != after.document.id or before.utterance != after.utterance:
        return False
    between = before.document.text[before.end : after.start]
    return not between.strip() and between.count("\n") < 2 and after.start >= before.end


def _scores(features: SentenceFeatures) -> Vectors:
    """(n,) the weighted sum for each sentence; -inf for those without content."""
    sentences, query = features.sentences, features.query
    if not sentences:
        return np.zeros(0, np.float32)
    scores: Vectors = _SIMILARITY * features.similarity + _COVERAGE * features.coverage
    named = _SPEAKER_NAMED * _speaker_named(query, sentences)
    scores += _PREVIOUS_SIMILARITY * _previous_similarity(features) + named
    passage = np.array([sentence.score for sentence in sentences], np.float32)
    scores += _PASSAGE * (passage - passage.max())
    if features.contextual is not None:
        scores += _CONTEXTUAL * features.contextual
    known = set(content_stems(query))
    new = [min(len(set(stems) - known), _MOST_NEW_STEMS) for stems in features.stems]
    scores += _NOVELTY * np.array(new, np.float32) / _MOST_NEW_STEMS
    kind = classify_question(features.question)
    for i, sentence in enumerate(sentences):
        scores[i] += _ANSWER_TYPE[kind] if kind and has_answer_type(kind, sentence.text) else 0.0
        scores[i] += _IS_QUESTION if sentence.text.rstrip().endswith("?") else 0.0
    has_content = np.array([len(set(stems)) >= _LEAST_STEMS for stems in features.stems], bool)
    return np.asarray(np.where(has_content | ~has_content.any(), scores, -np.inf), np.float32)


def _previous_similarity(features: SentenceFeatures) -> Vectors:
    """(n,) cosine of the question and the sentence before each; the mean where there is none."""
    previous = np.full(len(features.sentences), features.similarity.mean(), np.float32)
    for before, after in features.neighbours:
        previous[after] = features.similarity[before]
    return previous


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


def format_quote(sentence: Sentence, marker: int) -> str:
    """A quote as a line of the answer: "Project Manager: We cut the budget. [1]"."""
    speaker = " ".join((sentence.speaker or "").split())
    text = " ".join(sentence.text.split())
    return f"{speaker}: {text} [{marker}]" if speaker else f"{text} [{marker}]"


def build_citation(sentence: Sentence, marker: int, line: str) -> Citation:
    """The citation of a quote; verified when the line has the document's own text."""
    document = sentence.document
    quote = document.text[sentence.start : sentence.end]
    verified = bool(quote.strip()) and " ".join(quote.split()) in line
    return Citation(
        marker=marker,
        document=document.id,
        path=document.path,
        title=document.title,
        part=document.part,
        start=sentence.start,
        end=sentence.end,
        quote=quote,
        speaker=sentence.speaker,
        time=sentence.time,
        page=document.page_at(sentence.start),
        verified=verified,
        overlap=float(verified),
        similarity=float(verified),
    )
