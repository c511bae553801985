"""An answer of verbatim evidence sentences: it cannot say what no document says.

A sentence is worth its closeness to the question, plus what its surroundings tell: rare words of
the question in it, close neighbours, a good passage around it, and a speaker whom the question
names. What follows a close question is close too: it is the reply. Sentences are taken best first,
each less what it repeats (maximal marginal relevance: Carbonell and Goldstein, SIGIR 1998), and
shown in reading order.

The weights were chosen on 240 real meeting questions (QMSum's training split, the eight best
passages of the right meeting). Beside the five closest sentences, 23.4/4.8/14.4 ROUGE-1/2/L in 110
words of which 30 % of the sentences lie in the gold turns, they give 24.5/5.4/15.8 in 83 words and
37 %. Speaker and passage matter most; without the speakers' labels ROUGE-1 gains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from generator.answer import Citation
from generator.evidence import Sentence, Vectors
from generator.terms import Rarity, content_stems

_RARE_WORDS = 0.1
_NEIGHBOURS = 0.1
_BELOW_ITS_QUESTION = 0.1  # at most lost by what follows a question, against that question
_PASSAGE_RANK = 0.1 / 6  # lost for each passage that is better than the sentence's own
_NAMED_SPEAKER = 0.3
_REPETITION = 0.2
_LEAST_WORDS = 2  # words with a meaning; drops "Okay ." and "{vocalsound}"


@dataclass(frozen=True, slots=True)
class QuoteLength:
    """How long an answer of quotes may be.

    Attributes:
        sentences: Most sentences.
        words: Most words, give or take a quarter; the first sentence may be longer.
        drop: A sentence worth less than the best one by more than this is left out.
    """

    sentences: int = 5
    words: int = 80
    drop: float = 0.25


def chosen(
    question: str,
    question_vector: Vectors,
    found: Sequence[Sentence],
    vectors: Vectors,
    *,
    length: QuoteLength,
) -> list[Sentence]:
    """The sentences that answer the question, in reading order, better documents first.

    Args:
        question: As asked.
        question_vector: Its vector, (d,).
        found: Evidence sentences.
        vectors: Theirs, (n, d).
        length: How much may be said.
    """
    worth = _worth(question, question_vector, found, vectors)
    picked = _picked(worth, found, vectors, length)
    documents = list(dict.fromkeys(found[i].document.id for i in picked))
    picked.sort(key=lambda i: (documents.index(found[i].document.id), found[i].start))
    return [found[i] for i in picked]


def _picked(
    worth: Vectors, found: Sequence[Sentence], vectors: Vectors, length: QuoteLength
) -> list[int]:
    """Indexes, best first; none repeats a span or a text."""
    picked: list[int] = []
    texts: set[str] = set()
    spoken = 0
    repeated = np.zeros(len(found), np.float32)
    best = worth.max(initial=-np.inf)
    open_ = np.isfinite(worth) & (worth >= best - length.drop)
    while open_.any() and len(picked) < length.sentences and spoken < length.words:
        i = int(np.where(open_, worth - _REPETITION * repeated, -np.inf).argmax())
        open_[i] = False
        size = len(found[i].text.split())
        text = " ".join(found[i].text.split())
        if text in texts or (picked and spoken + size > 1.25 * length.words):
            continue
        picked.append(i)
        texts.add(text)
        spoken += size
        repeated = np.maximum(repeated, vectors @ vectors[i])
    return picked


def _worth(
    question: str, question_vector: Vectors, found: Sequence[Sentence], vectors: Vectors
) -> Vectors:
    """What each sentence gives to the answer, (n,); minus infinity for those without content."""
    close = vectors @ question_vector
    stems = [content_stems(sentence.text) for sentence in found]
    rarity, wanted = Rarity(stems), content_stems(question)
    rare = np.array([rarity.share(wanted, each) for each in stems], np.float32)
    named = np.array([_names(question, sentence.speaker) for sentence in found], np.float32)
    worth: Vectors = close + _RARE_WORDS * rare + _NAMED_SPEAKER * named
    worth += _surroundings(close, found) - _PASSAGE_RANK * _ranks(found)
    said = np.array([len(set(each)) >= _LEAST_WORDS for each in stems], bool)
    if not said.any():
        return worth
    worth[~said] = -np.inf
    for question_asked, reply in _replies(found, said):
        worth[reply] = max(worth[reply], worth[question_asked] - _BELOW_ITS_QUESTION)
    return worth


def _replies(found: Sequence[Sentence], said: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Each question among the sentences, with the next sentence that says something."""
    for before, after in pairwise(i for i in _reading_order(found) if said[i]):
        if found[before].text.endswith("?") and _same_document(found, before, after):
            yield before, after


def _surroundings(close: Vectors, found: Sequence[Sentence]) -> Vectors:
    """What the sentences right before and after tell about each, (n,)."""
    given = np.zeros(len(found), np.float32)
    for before, after in pairwise(_reading_order(found)):
        if _same_document(found, before, after):
            given[before] += _NEIGHBOURS * close[after] / 2
            given[after] += _NEIGHBOURS * close[before] / 2
    return given


def _reading_order(found: Sequence[Sentence]) -> list[int]:
    return sorted(range(len(found)), key=lambda i: (found[i].document.id, found[i].start))


def _same_document(found: Sequence[Sentence], one: int, other: int) -> bool:
    return found[one].document.id == found[other].document.id


def _ranks(found: Sequence[Sentence]) -> Vectors:
    """How many passages are better than each sentence's own, (n,)."""
    scores = sorted({sentence.score for sentence in found}, reverse=True)
    place = {score: float(i) for i, score in enumerate(scores)}
    return np.array([place[sentence.score] for sentence in found], np.float32)


def _names(question: str, speaker: str | None) -> bool:
    """Whether the question names the speaker; a label of one letter only as a capital."""
    if not speaker or not speaker.strip():
        return False
    flags = re.IGNORECASE if len(speaker) > 1 else re.NOFLAG
    if speaker == "A" and re.match(r"\s*A\b", question):
        return False
    return re.search(rf"(?<!\w){re.escape(speaker)}(?!\w)", question, flags) is not None


def line(sentence: Sentence, marker: int) -> str:
    """One quote as it is shown: "Project Manager: We cut the budget. [1]"."""
    speaker = " ".join((sentence.speaker or "").split())
    text = " ".join(sentence.text.split())
    return f"{speaker}: {text} [{marker}]" if speaker else f"{text} [{marker}]"


def cited(sentence: Sentence, marker: int, shown: str) -> Citation:
    """The citation of a quote; verified when the document's own text is what is shown."""
    document = sentence.document
    quote = document.text[sentence.start : sentence.end]
    verified = bool(quote.strip()) and " ".join(quote.split()) in shown
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
