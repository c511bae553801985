"""Extractive answers: verbatim sentences of the evidence, so they cannot say what no document says.

Sentences are taken best first (`ranking`) until it is likely enough that one of them answers, or
the answer is long enough; those that follow on each other in one utterance become one quote. The
best quote leads, and goes on until it can be understood.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from generator.answer import Citation
from generator.evidence import Sentence
from generator.extractive.features import SentenceFeatures
from generator.extractive.latest import adds_nothing
from generator.extractive.question.asks_for_several import asks_for_several
from generator.extractive.question.two_questions import asks_twice
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.whole_list import whole_list
from generator.extractive.ranking import Ranking, answer_scores, probabilities
from generator.extractive.table_rows import named_rows
from indexing.text.tables import is_row

_LEAST_WORDS = 25  # of the first quote, where there are as many: "It's the ninth." says little
_LIST_WORDS = 60  # of one that ends with a colon, and goes on with a list
_ITEM = re.compile(r"[-*+\u2022\u2013]|\(?(?:\d{1,2}|[a-z])[.)]")
_LISTS = 2  # quotes that are made longer to the whole list where several things are asked for
_SLACK = 1.15  # how far the last sentence may cross the length


def select_quotes(features: SentenceFeatures, *, length: QuoteLength) -> list[Sentence]:
    """The quotes that answer the question, the best one first.

    Where they are rows of a table, all rows that the question names alike.
    """
    sentences, ranking = features.sentences, Ranking.of(features)
    alike, told = named_rows(features), ranking.statements
    selection = _choose(features, ranking, alike, length)
    best = [sentences[i] for i in selection]
    quotes = _merge(best)
    tables = {(sentences[i].document.id, sentences[i].start): of for i, of in alike.items()}
    table = [tables.get((one.document.id, one.start)) for one in best]

    def rank(quote: Sentence) -> tuple[int, int]:
        """Better ones first; the rows of one table that are named alike in reading order."""
        first = min(map(best.index, _within(quote, best)))
        return table.index(table[first]) if table[first] else first, quote.start

    quotes.sort(key=rank)
    when = [(sentences[i], told.late[i]) for i in selection if i in told.late]
    quotes = _by_time(quotes, when, course=told.course)
    quotes = [_with_what_follows(one, sentences) for one in quotes[:1]] + quotes[1:]
    if asks_for_several(features.question):
        quotes = _apart([*map(whole_list, quotes[:_LISTS]), *quotes[_LISTS:]])
    return quotes


def _choose(
    features: SentenceFeatures, ranking: Ranking, alike: Collection[int], length: QuoteLength
) -> list[int]:
    """The sentences to quote, best first.

    Once it is likely enough that one of them answers, and there are two where two things are asked
    for, only rows that are named alike follow, and a statement on the same matter of each document
    that has one. Where all statements on a matter are asked for, there is nothing else.
    """
    sentences, scores, told = features.sentences, ranking.scores, ranking.statements
    selection: list[int] = []
    texts: set[str] = set()
    words, sure, likely = 0, 0.0, probabilities(scores)
    least = 2 if asks_twice(features.question) else 1
    for i in map(int, np.argsort(-scores, kind="stable")):
        if not np.isfinite(scores[i]) or words >= length.words:
            break
        if told.course and len(told.late) > 1 and i not in told.late:
            continue
        cited = {sentences[j].document.id for j in selection}
        goes_on = told.holds({*selection[:1], i}) and sentences[i].document.id not in cited
        enough = sure >= length.enough and len(_merge(sentences[j] for j in selection)) >= least
        if enough and not (goes_on or {*selection, i} <= {*alike}):
            continue
        sure += float(likely[i])
        text = " ".join(sentences[i].text.split())
        size = len(text.split())
        if text in texts or (selection and words + size > _SLACK * length.words):
            continue
        if i in told.late and adds_nothing(features, i, told.late.keys() & selection):
            continue
        if len(_merge(sentences[j] for j in (*selection, i))) > length.quotes:
            continue
        selection.append(i)
        texts.add(text)
        words += size
    return selection


def _apart(quotes: Iterable[Sentence]) -> list[Sentence]:
    """Quotes without those that begin in one before them."""
    kept: list[Sentence] = []
    for quote in quotes:
        if not any(next(_within(one, [quote]), None) for one in kept):
            kept.append(quote)
    return kept


def _by_time(
    quotes: Sequence[Sentence], told: Iterable[tuple[Sentence, float]], *, course: bool
) -> list[Sentence]:
    """The quotes, those that are statements on a matter from the latest to the earliest.

    `told` says how late each statement is. The first quote, the best, stays first, but of a course:
    there, all are from the earliest to the latest.
    """
    late = {
        place: later if course else -later
        for one, later in told
        for place, quote in enumerate(quotes)
        if (course or place) and [*_within(quote, [one])]
    }
    moved = dict(zip(sorted(late), sorted(late, key=late.__getitem__), strict=True))
    return [quotes[moved.get(place, place)] for place in range(len(quotes))]


def _with_what_follows(quote: Sentence, sentences: Iterable[Sentence]) -> Sentence:
    """A short quote with the sentences that go on where it ends, as far as they were read."""
    leads_in = quote.text.rstrip().endswith(":")
    goes_on, least = (_is_next, _LIST_WORDS) if leads_in else (_follows, _LEAST_WORDS)
    for one in sorted(sentences, key=lambda one: one.start):
        if len(quote.text.split()) >= least:
            break
        if one.start >= quote.end and goes_on(quote, one):
            quote = replace(quote, end=one.end)
    return quote


def _is_next(before: Sentence, after: Sentence) -> bool:
    """Whether a sentence is the next item of the list that another one leads into."""
    if before.document.id != after.document.id or before.utterance != after.utterance:
        return False
    between = before.document.text[before.end : after.start]
    is_item = _ITEM.match(between.strip() + after.text) is not None
    return not between.strip(" \n\t-*+\u2022\u2013") and (is_item or between.count("\n") < 2)


def rank_sentences(features: SentenceFeatures, *, most: int = 12) -> list[Sentence]:
    """The best sentences, best first; those a language model may choose quotes from."""
    scores = answer_scores(features)
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
    """Whether nothing but white space of one paragraph is between them, and neither is a row."""
    if before.document.id != after.document.id or before.utterance != after.utterance:
        return False
    if is_row(before.text) or is_row(after.text):
        return False
    between = before.document.text[before.end : after.start]
    return not between.strip() and between.count("\n") < 2 and after.start >= before.end


def format_quote(sentence: Sentence, marker: int) -> str:
    """A quote as a line of the answer: "Project Manager: We cut the budget. [1]"."""
    speaker = " ".join((sentence.speaker or "").split())
    text = " ".join(sentence.text.split())
    return f"{speaker}: {text} [{marker}]" if speaker else f"{text} [{marker}]"


def build_citation(sentence: Sentence, marker: int, line: str) -> Citation:
    """The citation of a quote; verified when the line has the document's own text."""
    citation = sentence.cited(marker=marker)
    verified = bool(citation.quote.strip()) and " ".join(citation.quote.split()) in line
    return replace(citation, verified=verified, overlap=float(verified), similarity=float(verified))
