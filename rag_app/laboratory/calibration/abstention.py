"""The threshold of abstention for the models in use, from questions whose answers are known.

They are a person's own, those rated on the page, or where there are none the sample questions,
asked of the sample documents. Where evidence is given, a question is asked a second time without it
and without what says nearly the same: so it is known too how many questions without an answer the
threshold withholds. Questions made from sentences by templates were tried: they are so much easier
than people's that a threshold for one in twenty withholds every second one of people's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from generator.evidence import Sentence
from generator.extractive.conformal import AbstentionRecord
from generator.parts import models_digest
from generator.request import AskRequest
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.text.terms import content_stems
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.models import settings_of
from rag_app.laboratory.datasets.haystack import SAMPLES
from rag_app.laboratory.evaluation.cache_files import evaluation_cache

MOST = 1_000  # questions
LEAST = 10  # answerable questions; fewer promise nothing
_SAMPLE_QUESTIONS = ("questions.jsonl", "questions-2.jsonl")
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
    probes: Sequence[Probe],
    questions: str,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> AbstentionRecord:
    """Ask questions, and keep the probabilities that documents answer them.

    Args:
        corpus: What is asked; not empty.
        probes: The questions; at most `MOST` are asked.
        questions: Where they come from, in words.
        progress: Called with how many were asked, and of how many.
    """
    right: list[float] = []
    wrong: list[float] = []
    asked = probes[:MOST]
    for number, probe in enumerate(asked, start=1):
        request = AskRequest(probe.question, "quote", read_as="question")
        (right if probe.answered else wrong).append(corpus.answer_probability(request))
        if probe.answered and probe.evidence:
            gone = [frozenset(content_stems(each)) for each in probe.evidence]

            def without(sentence: Sentence, gone: list[frozenset[str]] = gone) -> bool:
                return any(_says_nearly(sentence, stems) for stems in gone)

            wrong.append(corpus.answer_probability(request, without=without))
        if progress:
            progress(number, len(asked))
    fingerprint = corpus.info().fingerprint
    assert fingerprint is not None, "nothing is asked of an empty corpus"
    digest = models_digest(fingerprint, corpus.generator_settings.parts)
    day = date.today().isoformat()
    return AbstentionRecord(digest, questions, tuple(sorted(right)), tuple(sorted(wrong)), day)


def calibrate(
    corpus: Corpus, data: Path | None, *, progress: Callable[[int, int], None] | None = None
) -> AbstentionRecord:
    """As `measure`, with questions of a file about the corpus, else with the sample questions.

    Raises:
        InvalidRequest: The corpus is empty, there are too few answerable questions, or no samples.
        UnreadableFile: The file has no questions.
    """
    fingerprint = corpus.info().fingerprint
    if fingerprint is None:
        raise InvalidRequest("an empty corpus cannot be calibrated; index documents first")
    if data is not None:
        return _enough(measure(corpus, own_probes(data), f"of {data.name}", progress=progress))
    files = [SAMPLES / name for name in _SAMPLE_QUESTIONS]
    if not all(file.is_file() for file in files):
        raise InvalidRequest("the sample questions are not here; name your own with --data FILE")
    settings = corpus.generator_settings
    folder = evaluation_cache() / f"abstention-{models_digest(fingerprint, settings.parts)}"
    encoder = settings_of(fingerprint)
    with Corpus(folder, encoder=encoder, generator=settings) as samples:
        samples.add(file for file in SAMPLES.iterdir() if file.suffix != ".jsonl")
        probes = [probe for file in files for probe in own_probes(file)]
        return _enough(measure(samples, probes, "the sample questions", progress=progress))


def _enough(record: AbstentionRecord) -> AbstentionRecord:
    if len(record.answered) < LEAST:
        raise InvalidRequest(
            f"{len(record.answered)} answerable questions ({record.questions}) promise nothing; "
            f"write {LEAST} or more, a JSON object a line, and name the file with --data"
        )
    return record


def _says_nearly(sentence: Sentence, stems: frozenset[str]) -> bool:
    """Whether a sentence has most of what another says, or is a part of it."""
    own = frozenset(content_stems(sentence.text))
    shared = len(own & stems)
    return bool(own) and (shared >= _ALIKE * len(stems) or shared >= _ALIKE * len(own) >= 2)
