"""Questions with quotes, and the answer to be written: from QMSum and from questions on passages.

An answer is what a person wrote where the quotes verify it by the rules of `attribution`, else the
sentence that answers, tidied by rules (`reported_speech`).
"""

from __future__ import annotations

import gzip
import json
import random as randomness
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from reported_speech import MOST_WORDS, clause, reply, reported, sentence

from generator.answer import NOT_SAID
from generator.attribution.citer import Citer
from generator.evidence import Sentence, Span, Vectors, evidence_sentences
from indexing.documents import Document
from indexing.text.disfluency import remove_disfluencies
from indexing.text.sentences import sentences
from indexing.text.terms import Rarity, content_stems
from rag_app.batch.qmsum import Meeting, MeetingQuestion, meetings

FOLDS = 5
"""Every so many-th meeting is held out."""

_QUOTES, _WORDS = 5, 120  # most quotes of a prompt, and most words


@dataclass(frozen=True, slots=True)
class Example:
    """What the writer reads, and what it is to write."""

    question: str
    quotes: tuple[Sentence, ...]
    answer: str
    source: str


def supported(text: str, quotes: Sequence[Sentence], question: str) -> bool:
    """Whether the rules of attribution verify every sentence; embeddings are not compared."""
    spans = [Span(each.document, each.start, each.end, 1.0) for each in quotes]
    citer = Citer(spans, _alike, question=question)
    found = [citer.cite(text[a:b]) for a, b in sentences(text, 0, len(text))]
    return bool(found) and not citer.unsupported


def _alike(texts: list[str]) -> Vectors:
    return np.ones((len(texts), 1), np.float32)


# --- meetings -----------------------------------------------------------------------------------


def split_meetings(path: Path) -> tuple[list[Meeting], list[Meeting]]:
    """Meetings to train on, and those held out."""
    every = meetings(path)
    return (
        [one for i, one in enumerate(every) if i % FOLDS],
        [one for i, one in enumerate(every) if not i % FOLDS],
    )


def meeting_examples(every: Sequence[Meeting], *, seed: int) -> Iterator[Example]:
    """An example of each query whose evidence is near enough to its reference."""
    random = randomness.Random(seed)
    for meeting in every:
        document = meeting.document
        pool = [
            each
            for each in evidence_sentences([Span(document, 0, len(document.text), 1.0)])
            if len(content_stems(each.text)) >= 4 and each.speaker
        ]
        rarity = Rarity(content_stems(each.text) for each in pool)
        for question in meeting.specific:
            if question.utterances:
                example = _of_query(document, question, pool, rarity, random)
                if example is not None:
                    yield example


def _of_query(
    document: Document,
    question: MeetingQuestion,
    pool: Sequence[Sentence],
    rarity: Rarity,
    random: randomness.Random,
) -> Example | None:
    starts = {document.utterances[i].start for i in question.utterances}
    gold = [each for each in pool if each.utterance in starts]
    reference = [
        question.answer[a:b] for a, b in sentences(question.answer, 0, len(question.answer))
    ]
    chosen: list[tuple[str, Sentence]] = []
    for written in reference[: random.choice((1, 2, 2, 3, 3))]:
        stems = content_stems(written)
        scores = [
            rarity.share(stems, content_stems(each.text)) - 0.002 * len(each.text.split())
            for each in gold
        ]
        best = int(np.argmax(scores)) if scores else 0
        if scores and scores[best] >= 0.12 and all(gold[best] != each for _, each in chosen):
            chosen.append((written, gold[best]))
    if not chosen:
        return None
    quotes = _with_others([each for _, each in chosen], question.text, pool, rarity, random)
    answer = [
        _meeting_sentence(written, each, quotes, question.text, random) for written, each in chosen
    ]
    answer = list(dict.fromkeys(filter(None, answer)))
    if not answer:
        return None
    return Example(question.text, tuple(quotes), " ".join(answer), "meetings")


def _meeting_sentence(
    written: str,
    evidence: Sentence,
    quotes: Sequence[Sentence],
    question: str,
    random: randomness.Random,
) -> str:
    """The reference's own sentence if the quotes verify it, else the evidence, reported."""
    written = remove_disfluencies(written)
    if len(written.split()) <= MOST_WORDS and supported(written, quotes, question):
        return written
    text = remove_disfluencies(evidence.text)
    wanted = {*content_stems(written), *content_stems(question)}
    short = clause(text, wanted, most=26)
    indirect = reported(evidence.speaker or "", short, random) if short else ""
    return indirect if indirect and supported(indirect, quotes, question) else ""


def _with_others(
    needed: Sequence[Sentence],
    question: str,
    pool: Sequence[Sentence],
    rarity: Rarity,
    random: randomness.Random,
) -> list[Sentence]:
    """The needed quotes among others that look like the question, in reading order."""
    stems = content_stems(question)
    ranked = sorted(pool, key=lambda each: -rarity.share(stems, content_stems(each.text)))[:12]
    others = [each for each in random.sample(ranked, len(ranked)) if each not in needed]
    quotes, words = list(needed), sum(len(each.text.split()) for each in needed)
    most = random.randint(max(1, len(needed)), _QUOTES)
    for each in others:
        size = len(each.text.split())
        if len(quotes) < most and words + size <= _WORDS:
            quotes.append(each)
            words += size
    return sorted(quotes, key=lambda each: each.start)


# --- questions on passages ----------------------------------------------------------------------


def passage_examples(path: Path, *, seed: int, most: int) -> Iterator[Example]:
    """Examples of questions on passages, in random order, near misses among them."""
    random = randomness.Random(seed)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    pairs = [(row, question) for row in rows for question in row["questions"]]
    random.shuffle(pairs)
    count = misses = 0
    for row, question in pairs:
        if count == most:
            return
        if not question["answers"] and misses > 0.05 * most:
            continue
        example = _of_passage(row, question, random)
        if example is not None:
            count += 1
            misses += example.answer == NOT_SAID
            yield example


def _of_passage(row: dict, question: dict, random: randomness.Random) -> Example | None:  # type: ignore[type-arg]
    text = row["text"]
    document = Document("passage", "passage", "", "", "text", "", text)
    pool = evidence_sentences([Span(document, 0, len(text), 1.0)])
    rarity = Rarity(content_stems(each.text) for each in pool)
    ask = question["question"].strip()
    ask = ask if ask.endswith("?") else ask + "?"
    if not question["answers"]:
        ranked = sorted(
            pool, key=lambda e: -rarity.share(content_stems(ask), content_stems(e.text))
        )
        quotes = _with_others(ranked[:1], ask, pool, rarity, random)
        return Example(ask, tuple(quotes), NOT_SAID, "near miss") if _short(quotes) else None
    start, end = min(question["answers"], key=lambda span: span[1] - span[0])
    holder = next((e for e in pool if e.start <= start and end <= e.end), None)
    if holder is None:
        return None
    others = [e for e in pool if e != holder]
    if len(others) > 1 and random.random() < 0.04:
        without = [e for e in others if text[start:end].lower() not in e.text.lower()]
        quotes = sorted(random.sample(without, min(3, len(without))), key=lambda e: e.start)
        if quotes and _short(quotes):
            return Example(ask, tuple(quotes), NOT_SAID, "other quotes")
    quotes = _with_others([holder], ask, pool, rarity, random)
    if not _short(quotes) or holder.text.rstrip().endswith("?"):
        return None
    answer = _passage_sentence(ask, holder, start, end, quotes)
    if row["source"].endswith(("reviews", "reddit")) and random.random() < 0.75:
        spoken = _spoken(ask, holder, start, end, quotes, random)
        if spoken is not None:
            return spoken
    return Example(ask, tuple(quotes), answer, row["source"]) if answer else None


_ROLES = """Project Manager|Marketing|User Interface|Industrial Designer|Chair|Treasurer
Anna Berg|Tom|Priya Nair|Dr Holm|Professor B|PhD C|Grad A|Lena|Marcus Webb|Editor|Nurse|Sam
Ms Ortega|Speaker 2|Joan Ellis|Director|Buyer|Kofi|Mr Lind|Engineer|Reviewer|Ruth
Chief Engineer|Iris Vale|Customer"""
_NAMES = tuple(name for line in _ROLES.splitlines() for name in line.split("|"))


def _spoken(
    ask: str,
    holder: Sentence,
    start: int,
    end: int,
    quotes: Sequence[Sentence],
    random: randomness.Random,
) -> Example | None:
    """The same as if persons had said it: what the writer reports by their names."""
    names = random.sample(_NAMES, 2)
    said = tuple(replace(each, speaker=random.choice(names)) for each in quotes)
    speaker = said[list(quotes).index(holder)].speaker or ""
    text = remove_disfluencies(holder.text)
    answer = remove_disfluencies(holder.document.text[start:end])
    if len(text.split()) > 22:
        text = clause(text, {*content_stems(ask), *content_stems(answer)}, most=26)
    indirect = reported(speaker, text, random) if answer and answer in text else ""
    if not indirect or not supported(indirect.partition(" that ")[2], quotes, ask):
        return None
    return Example(ask, said, indirect, "spoken")


def _short(quotes: Sequence[Sentence]) -> bool:
    return sum(len(each.text) for each in quotes) < 1_200


def _passage_sentence(
    ask: str, holder: Sentence, start: int, end: int, quotes: Sequence[Sentence]
) -> str:
    """A reply if the quotes verify it, else the sentence that answers, or its clause that does."""
    text = holder.document.text
    replied = reply(ask, text[start:end], text[holder.start : start])
    if replied and supported(replied, quotes, ask):
        return replied
    whole = remove_disfluencies(holder.text)
    if len(whole.split()) <= 22:
        return sentence(whole) if whole else ""
    answer = remove_disfluencies(text[start:end])
    wanted = {*content_stems(ask), *content_stems(answer)}
    short = clause(whole, wanted, most=MOST_WORDS)
    if answer and answer.lower() in short.lower() and supported(sentence(short), quotes, ask):
        return sentence(short)
    return ""
