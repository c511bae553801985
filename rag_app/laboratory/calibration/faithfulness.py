"""Faithfulness of generated answers, measured on questions whose evidence is known.

Two figures: the share of generated sentences that a quote supports, and abstention where the
documents hold no answer. Extractive answers are the baseline, as quotes are faithful by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from generator.answer import Mode
from generator.lm.calibration_record import CalibrationRecord, find_record
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from indexing.models.files import generator_revision
from indexing.models.server.server_name import is_remote
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.calibration.score_file import ScoreFile, key, score_file
from rag_app.laboratory.datasets.labelled_questions import LabelledQuestion, load_questions
from rag_app.laboratory.evaluation.answers import measure_answer
from rag_app.progress import track

SUPPORTED = 0.9
"""Minimum share of generated sentences that quotes must support."""

WITHHELD = 0.05
"""Maximum excess over quotes of the share of answerable questions that get no answer."""

MODES: tuple[Mode, ...] = ("quote", "free")


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Figures of one answer mode; shares from 0 to 1.

    Attributes:
        questions: Number of questions.
        supported: Mean share of an answer's sentences that a quote or an excerpt supports.
        rightly_withheld: Abstentions among unanswerable questions; None if there were none.
        wrongly_withheld: Abstentions among answerable questions.
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
    cache: Path,
    questions: int | None = None,
    notify: Callable[[str], None] | None = None,
) -> CalibrationRecord:
    """Ask every question in both answer modes, and decide.

    Args:
        data: Questions as for `rag-app evaluate answers`.
        settings: How answers are made; the mode is varied.
        folder: Folder of the corpus of the questions, made if needed.
        cache: File of all scores, from which a stopped run resumes.
        questions: Maximum number, spread evenly; None for all.
        notify: Called with a sentence about anything that takes long.

    Returns:
        The record of the model, with the result.

    Raises:
        InvalidRequest: There is no question with an answer.
        UnreadableFile: The data cannot be read.
    """
    model = settings.model
    revision = "" if is_remote(model) else generator_revision(model, notify=notify)
    with (
        score_file(cache) as scores,
        Corpus(folder, generator=settings, notify=notify) as corpus,
    ):
        sample = _sample(load_questions(data, corpus), questions)
        if not any(one.answerable for one in sample):
            raise InvalidRequest(f"{data}: holds no question with an answer")
        modes = {mode: _measure(corpus, sample, mode, scores, revision) for mode in MODES}
    answer, reason = decide(modes["quote"], modes["free"])
    figures: dict[str, Any] = {mode: asdict(each) for mode, each in modes.items()}
    record = find_record(model, revision) or CalibrationRecord(model, revision)
    return replace(record, answer=answer, answer_reason=reason, answers=figures)


def decide(quote: Faithfulness, free: Faithfulness) -> tuple[Mode, str]:
    """The answer mode for the model, and the reason."""
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


def _measure(
    corpus: Corpus,
    questions: Sequence[LabelledQuestion],
    mode: Mode,
    cache: ScoreFile,
    revision: str,
) -> Faithfulness:
    settings = asdict(replace(corpus.generator_settings, answer=mode))
    supported: list[float] = []
    right: list[bool] = []
    wrong: list[bool] = []
    with track(questions, doing=f"Answering ({mode})") as items:
        for one in items:
            name = key(settings, revision, asdict(one))
            if name not in cache.scores:
                answer = measure_answer(corpus.ask(one.question, mode=mode, where=one.where), one)
                cache.add(name, answer.supported, answer.withheld)
            share, withheld = cache.scores[name]
            (wrong if one.answerable else right).append(bool(withheld))
            if share is not None and one.answerable:
                supported.append(float(share))
    return Faithfulness(
        len(questions),
        round(fmean(supported), 4) if supported else 0.0,
        round(fmean(right), 4) if right else None,
        round(fmean(wrong), 4),
    )


def _sample(all_: Sequence[LabelledQuestion], count: int | None) -> list[LabelledQuestion]:
    """So many of them, spread evenly, as files often have the unanswerable ones at the end."""
    if count is None or count >= len(all_):
        return list(all_)
    return [all_[n * len(all_) // count] for n in range(count)]
