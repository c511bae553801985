"""An answer of verbatim evidence sentences: it cannot say what no document says.

A sentence is worth its closeness to the question, as a whole and word by word, plus what it and
its surroundings tell: what was said right before it (a reply follows its question), how good its
passage is, whether the question names its speaker, whether it holds what is asked for (a time for
"when"), how much it says that the question does not, and how close it is when its stretch of the
document is read as a whole (`late_chunking`). Sentences are taken best first until the
answer is long enough; those that follow on each other in one utterance become one quote.

The weights are those of a softmax over a question's sentences (a conditional logit: McFadden,
1974), fitted to the sentences that hold the sample questions' evidence, and with less weight to 65
real meeting questions (QMSum's training split), then rounded. docs/experiments.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from generator.answer import Citation
from generator.evidence import Sentence, Vectors
from generator.extractive.answer_type import Asked, asked, holds
from generator.extractive.features import Reading
from indexing.text.terms import content_stems

_CLOSE = 4.0  # cosine of question and sentence
_COVERAGE = 4.0  # share of the question's words that it has, or has the like of
_CLOSE_BEFORE = 2.5  # cosine of question and the sentence before
_PASSAGE = 1.0  # what the retriever scores its passage below the best one
_NAMED_SPEAKER = 3.5
_CONTEXT = 1.0  # what a reader of its whole stretch says of it
_NEWS = 1.5  # stems that the question does not have, up to _MUCH_NEWS
_QUESTION = -1.5  # it is one itself
_HOLDS: dict[Asked, float] = {"reason": 1.5, "time": 4.5, "quantity": 3.5, "person": 2.0}
_MUCH_NEWS = 12
_LEAST_WORDS = 2  # words with a meaning; drops "Okay ." and "{vocalsound}"
_SLACK = 1.15  # how far the last sentence may cross the length


@dataclass(frozen=True, slots=True)
class QuoteLength:
    """How long an answer of quotes may be.

    Attributes:
        quotes: Most quotes; a quote is of one or more sentences of one utterance.
        words: Most words, give or take 15 %; the first sentence may be longer.
        drop: A sentence worth less than the best one by more than this is left out.
    """

    quotes: int = 5
    words: int = 90
    drop: float = 4.0


def chosen(reading: Reading, *, length: QuoteLength) -> list[Sentence]:
    """The quotes that answer the question, in reading order, better documents first.

    Args:
        reading: The question and the evidence.
        length: How much may be said.
    """
    found, worth = reading.found, _worth(reading)
    picked: list[int] = []
    texts: set[str] = set()
    spoken = 0
    best = worth.max(initial=-np.inf)
    for i in map(int, np.argsort(-worth, kind="stable")):
        if not np.isfinite(worth[i]) or worth[i] < best - length.drop or spoken >= length.words:
            break
        text = " ".join(found[i].text.split())
        size = len(text.split())
        if text in texts or (picked and spoken + size > _SLACK * length.words):
            continue
        if len(_joined(found[j] for j in (*picked, i))) > length.quotes:
            continue
        picked.append(i)
        texts.add(text)
        spoken += size
    documents = list(dict.fromkeys(found[i].document.id for i in picked))
    quotes = _joined(found[i] for i in picked)
    return sorted(quotes, key=lambda quote: (documents.index(quote.document.id), quote.start))


def best(reading: Reading, *, most: int = 12) -> list[Sentence]:
    """The sentences worth most, best first; what a language model may choose quotes from."""
    worth = _worth(reading)
    order = np.argsort(-worth, kind="stable")[:most]
    return [reading.found[i] for i in map(int, order) if np.isfinite(worth[i])]


def _joined(picked: Iterable[Sentence]) -> list[Sentence]:
    """Sentences that follow on each other in one utterance, or one line, as one quote."""
    quotes: list[Sentence] = []
    for sentence in sorted(picked, key=lambda one: (one.document.id, one.start)):
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


def _worth(reading: Reading) -> Vectors:
    """What each sentence gives to the answer, (n,); minus infinity for those without content."""
    found, question = reading.found, reading.question
    if not found:
        return np.zeros(0, np.float32)
    worth: Vectors = _CLOSE * reading.close + _COVERAGE * reading.coverage
    worth += _CLOSE_BEFORE * _before(reading) + _NAMED_SPEAKER * _named(question, found)
    score = np.array([sentence.score for sentence in found], np.float32)
    worth += _PASSAGE * (score - score.max())
    if reading.context is not None:
        worth += _CONTEXT * reading.context
    about = set(content_stems(question))
    new = [min(len(set(stems) - about), _MUCH_NEWS) for stems in reading.stems]
    worth += _NEWS * np.array(new, np.float32) / _MUCH_NEWS
    kind = asked(reading.asked)
    for i, sentence in enumerate(found):
        worth[i] += _HOLDS[kind] if kind and holds(kind, sentence.text) else 0.0
        worth[i] += _QUESTION if sentence.text.rstrip().endswith("?") else 0.0
    said = np.array([len(set(stems)) >= _LEAST_WORDS for stems in reading.stems], bool)
    return np.asarray(np.where(said | ~said.any(), worth, -np.inf), np.float32)


def _before(reading: Reading) -> Vectors:
    """(n,) how close the sentence before each is; the mean where none is."""
    close = np.full(len(reading.found), reading.close.mean(), np.float32)
    for before, after in reading.pairs:
        close[after] = reading.close[before]
    return close


def _named(question: str, found: Sequence[Sentence]) -> Vectors:
    """(n,) 1 where the question names the speaker."""
    speakers = {sentence.speaker or "" for sentence in found}
    names = {speaker: float(_names(question, speaker, speakers)) for speaker in speakers}
    return np.array([names[sentence.speaker or ""] for sentence in found], np.float32)


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
