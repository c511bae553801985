"""The threshold of abstention for a corpus and the models in use, from questions it answers.

Questions are a person's own, those rated on the page, or made from the documents' sentences by the
templates that suggest questions. Those made, and those whose evidence is given, are asked a second
time without the sentences that answer and those that say nearly the same: so it is known too how
many questions without an answer the threshold withholds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from generator.evidence import Sentence
from generator.extractive.conformal import AbstentionRecord, today
from generator.model_digest import models_digest
from generator.request import AskRequest
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.text.terms import content_stems
from rag_app.corpus.corpus import Corpus

MOST = 200  # questions
LEAST = 10  # made questions; fewer promise nothing
_SECONDS = 60.0  # for made questions
_LONGEST = 300_000  # words of a document that questions are made of
_ALIKE = 0.6  # share of a sentence's stems from which another says nearly the same


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of which it is known whether the documents answer it.

    Attributes:
        question: What is asked.
        answered: Whether they do.
        evidence: The sentences that answer, as far as they are known.
    """

    question: str
    answered: bool = True
    evidence: tuple[str, ...] = ()


def made_probes(corpus: Corpus) -> Iterator[Probe]:
    """Questions made from the documents, the best of each before the second of any."""
    from rag_app.chat.welcome.candidates import candidates

    def of(name: str) -> list[Probe]:
        document = corpus.document(name)
        found = candidates(document, corpus.overview(name))
        return [
            Probe(each.question, evidence=(document.text[each.start : each.end],))
            for each in found
            if not each.general
        ]

    entries = [each for each in corpus.documents() if each.words <= _LONGEST]
    rows = zip_longest(*(of(each.id) for each in entries[:MOST]))
    return (each for each in chain.from_iterable(rows) if each is not None)


def own_probes(file: Path) -> list[Probe]:
    """Questions of a file of JSON lines, as for `rag-app evaluate answers`.

    Raises:
        UnreadableFile: It is none.
    """
    try:
        rows = [json.loads(each) for each in file.read_text("utf-8").splitlines() if each.strip()]
        found = [_own(each) for each in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        remedy = 'write one {"question": ..., "answerable": true} a line, in UTF-8'
        raise UnreadableFile(file, f"has no questions ({error})", remedy) from error
    return [each for each in found if each is not None]


def _own(row: Any) -> Probe | None:  # noqa: ANN401 - of JSON
    if row.get("rated") == "down" and not row.get("answer"):
        return None  # nobody has said what is right
    quotes = tuple(str(each["quote"]) for each in row.get("evidence") or ())
    return Probe(str(row["question"]), bool(row.get("answerable", True)), quotes)


def measure(
    corpus: Corpus,
    probes: Iterator[Probe],
    questions: str,
    *,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AbstentionRecord:
    """Ask questions, and keep the probabilities that documents answer them.

    Args:
        corpus: What is asked.
        probes: The questions; at most `MOST` are asked.
        questions: Where they come from, in words.
        seconds: After which no further one is asked.
        progress: Called with how many were asked, and the most.

    Raises:
        InvalidRequest: There are too few answerable ones.
    """
    began = time.monotonic()
    right: list[float] = []
    wrong: list[float] = []
    for number, probe in enumerate(islice(probes, MOST), start=1):
        request = AskRequest(probe.question, "quote", read_as="question")
        (right if probe.answered else wrong).append(corpus.answer_probability(request))
        if probe.answered and probe.evidence:
            gone = [frozenset(content_stems(each)) for each in probe.evidence]

            def without(sentence: Sentence, gone: list[frozenset[str]] = gone) -> bool:
                return any(_says_nearly(sentence, stems) for stems in gone)

            wrong.append(corpus.answer_probability(request, without=without))
        if progress:
            progress(number, MOST)
        if seconds is not None and time.monotonic() - began > seconds:
            break
    if len(right) < LEAST:
        raise InvalidRequest(
            f"{len(right)} answerable questions ({questions}) promise nothing; write {LEAST} or "
            "more of your own, a JSON object a line, and name the file with --data"
        )
    fingerprint = corpus.info().fingerprint
    assert fingerprint is not None, "questions were answered"
    digest = models_digest(fingerprint, corpus.generator_settings.parts)
    return AbstentionRecord(digest, questions, tuple(sorted(right)), tuple(sorted(wrong)), today())


def calibrate(
    corpus: Corpus, data: Path | None, *, progress: Callable[[int, int], None] | None = None
) -> AbstentionRecord:
    """As `measure`, with questions of a file, or made from the documents within a minute."""
    if data is not None:
        return measure(corpus, iter(own_probes(data)), f"of {data.name}", progress=progress)
    made = "made from the documents"
    return measure(corpus, made_probes(corpus), made, seconds=_SECONDS, progress=progress)


def _says_nearly(sentence: Sentence, stems: frozenset[str]) -> bool:
    """Whether a sentence has most of what another says, or is a part of it."""
    own = frozenset(content_stems(sentence.text))
    shared = len(own & stems)
    return bool(own) and (shared >= _ALIKE * len(stems) or shared >= _ALIKE * len(own) >= 2)
