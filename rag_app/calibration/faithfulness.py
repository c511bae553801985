"""May a model answer in its own words? Measured on questions whose evidence is known.

The share of its sentences that a quote supports, and whether it keeps silent where the documents
do. Quotes are the yardstick: they cannot lie, so words of its own have to come close.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from generator.answer import Mode
from generator.lm.calibration_record import CalibrationRecord, find_record
from generator.lm.model_name import is_remote
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from indexing.models.files import generator_weights
from rag_app.calibration.score_file import ScoreFile, key, score_file
from rag_app.corpus.corpus import Corpus
from rag_app.evaluation.answers import LabelledQuestion, load_questions, measure_answer
from rag_app.progress import counted

SUPPORTED = 0.9
"""Least share of a free answer's sentences that quotes must support."""

WITHHELD = 0.05
"""How many more questions that have an answer may be left unanswered than with quotes."""

MODES: tuple[Mode, ...] = ("quote", "free")


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Figures of one way to answer; shares from 0 to 1.

    Attributes:
        questions: How many were asked.
        supported: Mean share of an answer's sentences that a quote supports.
        rightly_withheld: Of the questions without an answer; None where there were none.
        wrongly_withheld: Of the questions with one.
    """

    questions: int
    supported: float
    rightly_withheld: float | None
    wrongly_withheld: float


def measure(  # noqa: PLR0913 - four keyword options
    data: Path,
    settings: GeneratorSettings,
    *,
    folder: Path,
    kept: Path,
    questions: int | None = None,
    notify: Callable[[str], None] | None = None,
) -> CalibrationRecord:
    """Ask every question in both ways, and decide.

    Args:
        data: Questions as `rag-app evaluate answers` takes them.
        settings: How answers are made; the way to answer is varied.
        folder: Where the corpus of the questions is kept, and taken from.
        kept: A file for every score, so that a run that was stopped goes on where it was.
        questions: At most so many, spread over all; None for all.
        notify: Told about anything that takes long.

    Returns:
        What was known of the model, with the outcome.

    Raises:
        InvalidRequest: There is no question with an answer.
        UnreadableFile: The data cannot be read.
    """
    model = settings.model
    revision = "" if is_remote(model) else generator_weights(model, notify=notify).revision
    with (
        score_file(kept) as scores,
        Corpus(folder, generator=settings, notify=notify) as corpus,
    ):
        asked = _spread(load_questions(data, corpus), questions)
        if not any(one.answerable for one in asked):
            raise InvalidRequest(f"{data}: holds no question with an answer")
        found = {mode: _measured(corpus, asked, mode, scores, revision) for mode in MODES}
    answer, reason = decided(found["quote"], found["free"])
    figures: dict[str, Any] = {mode: asdict(each) for mode, each in found.items()}
    known = find_record(model, revision) or CalibrationRecord(model, revision)
    return replace(known, answer=answer, answer_reason=reason, answers=figures)


def decided(quote: Faithfulness, free: Faithfulness) -> tuple[Mode, str]:
    """How the model is to answer, and why."""
    silent, silent_quotes = free.rightly_withheld or 0.0, quote.rightly_withheld or 0.0
    faithful = free.supported >= SUPPORTED
    honest = silent >= silent_quotes
    willing = free.wrongly_withheld <= quote.wrongly_withheld + WITHHELD
    reason = (
        f"on {free.questions} questions, {free.supported:.0%} of generated sentences are supported "
        f"(required: {SUPPORTED:.0%}); it abstains on {silent:.0%} of the unanswerable (quotes: "
        f"{silent_quotes:.0%}) and {free.wrongly_withheld:.0%} of the others (quotes: "
        f"{quote.wrongly_withheld:.0%})"
    )
    return ("free" if faithful and honest and willing else "quote"), reason


def _measured(
    corpus: Corpus, asked: Sequence[LabelledQuestion], mode: Mode, scores: ScoreFile, revision: str
) -> Faithfulness:
    settings = asdict(replace(corpus.generator_settings, answer=mode))
    supported: list[float] = []
    right: list[bool] = []
    wrong: list[bool] = []
    with counted(asked, doing=f"Answering ({mode})") as steps:
        for one in steps:
            name = key(settings, revision, asdict(one))
            if name not in scores.known:
                answer = measure_answer(corpus.ask(one.question, answer=mode, where=one.where), one)
                scores.add(name, answer.supported, answer.withheld)
            share, withheld = scores.known[name]
            (wrong if one.answerable else right).append(bool(withheld))
            if share is not None and one.answerable:
                supported.append(float(share))
    return Faithfulness(
        len(asked),
        round(fmean(supported), 4) if supported else 0.0,
        round(fmean(right), 4) if right else None,
        round(fmean(wrong), 4),
    )


def _spread(asked: Sequence[LabelledQuestion], count: int | None) -> list[LabelledQuestion]:
    """So many of them, evenly: files of questions have the unanswerable at one end."""
    if count is None or count >= len(asked):
        return list(asked)
    return [asked[n * len(asked) // count] for n in range(count)]
