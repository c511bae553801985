"""A batch: which questions are still to be asked, asking them, keeping each answer at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from indexing.errors import DocumentNotFound, InvalidRequest
from rag_app.batch.answer_file import AnswerFile, Kept, Key
from rag_app.batch.asking import Outcome, asked
from rag_app.batch.scope import Documents, differences, fingerprint, settings

if TYPE_CHECKING:
    from generator.answer import Mode
    from rag_app.batch.questions import Question
    from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]
Tell = Callable[[str], None]
Changed = Literal["stop", "keep", "ask"]
SHOWN = 3  # differences and failures that are spelled out


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch is asked.

    Attributes:
        answer: "quote" or "free"; None takes the corpus's choice.
        k: Documents to take evidence from, at most.
        workers: Questions asked at once.
        limit: Most questions to ask in this run; None for all.
        retry_failed: Whether to ask those again that failed.
        changed: What to do with answers that rest on other settings, documents or questions:
            "stop" before asking anything, "keep" them, or "ask" these questions again.
    """

    answer: Mode | None = None
    k: int = 5
    workers: int = 1
    limit: int | None = None
    retry_failed: bool = False
    changed: Changed = "stop"

    def __post_init__(self) -> None:
        if min(self.k, self.workers) < 1 or (self.limit is not None and self.limit < 1):
            raise InvalidRequest("k, workers and limit must be at least 1")


@dataclass(frozen=True, slots=True)
class Step:
    """How far a batch has come: questions done and failed in this run, and all to do in it."""

    done: int
    failed: int
    total: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A question without an answer: its id, and why."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, and what the file holds after it.

    Attributes:
        out: The file.
        questions: In the file of questions.
        asked: In this run.
        kept: Answers that were there already.
        left: Questions without a line yet.
        answered: Lines with an answer, in the whole file.
        abstained: Those of them that say that the documents do not say.
        failed: Lines without an answer.
        seconds: That asking took.
        per_hour: Questions an hour; 0 when none was asked.
        failures: The questions that failed, in order.
    """

    out: str
    questions: int
    asked: int
    kept: int
    left: int
    answered: int
    abstained: int
    failed: int
    seconds: float
    per_hour: float
    failures: tuple[Failure, ...]

    def as_dict(self) -> Json:
        """Field names to values."""
        return asdict(self)


def run(  # noqa: PLR0913 - what to ask, where, how, and whom to tell
    corpus: Corpus,
    questions: Sequence[Question],
    out: Path,
    *,
    options: BatchOptions | None = None,
    progress: Callable[[Step], None] | None = None,
    notify: Tell | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Summary:
    """Ask every question that has no answer in the file yet, and keep each answer at once.

    Args:
        corpus: What to ask.
        questions: Each with a key of its own.
        out: The file of answers.
        options: How to ask.
        progress: Told after each question.
        notify: Told in a sentence about what was found in the file.
        stop: Whether to begin no further question; those in hand are finished and kept.

    Raises:
        InvalidRequest: The file holds answers that rest on something else, and `changed` is
            "stop"; or something that is no answer; or another run is writing to it.
        CorpusError: There is no corpus, or it cannot be used.
        InputError: The file cannot be written.
    """
    options = options or BatchOptions()
    tell = notify or (lambda line: None)
    chosen = settings(corpus, answer=options.answer, k=options.k)
    with AnswerFile(out, [question.key for question in questions]) as file:
        if file.mended:
            tell(f"{file.path}: its last line was incomplete; that question is asked again")
        standing = _Standing.of(questions, file.kept, Documents.of(corpus), fingerprint(chosen))
        wanted = _todo(standing, file, chosen, options, tell)
        kept = sum(key not in wanted for key in file.kept)
        todo = [question for question in questions if question.key in wanted][: options.limit]
        done = failed = 0
        started = time.perf_counter()
        outcomes = asked(
            corpus,
            todo,
            answer=options.answer,
            k=options.k,
            workers=options.workers,
            stop=stop,
        )
        for outcome in outcomes:
            file.add(outcome.question.key, record(outcome, chosen))
            done, failed = done + 1, failed + (outcome.failed is not None)
            if progress:
                progress(Step(done, failed, len(todo)))
        seconds = time.perf_counter() - started
        file.settle()
        return _summary(questions, file, asked_now=done, kept=kept, seconds=seconds)


def record(outcome: Outcome, chosen: Json) -> Json:
    """A line of the file."""
    from generator.answer import as_json

    question = outcome.question
    answer: Json = dict(as_json(outcome.answer)) if outcome.answer else {"answer": None}
    return {
        "id": question.id,
        "question": question.text,
        "document": question.document,
        "documents": [{"id": one.id, "title": one.title} for one in outcome.scope],
        "error": asdict(outcome.failed) if outcome.failed else None,
        **{name: value for name, value in answer.items() if name != "question"},
        "fingerprint": f"{fingerprint(chosen)}-{outcome.documents}",
        "settings": chosen,
    }


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where each question of a batch stands, before it is asked."""

    new: list[Question]
    failed: list[Question]
    stale: list[Question]  # their answers rest on something else
    gone: list[Key]  # their answers are there, and nobody asks them

    @classmethod
    def of(
        cls, questions: Sequence[Question], kept: dict[Key, Kept], documents: Documents, now: str
    ) -> _Standing:
        known = {question.key for question in questions}
        standing = cls([], [], [], [key for key in kept if key not in known])
        for question in questions:
            line = kept.get(question.key)
            if line is None:
                standing.new.append(question)
            elif line.failed:
                standing.failed.append(question)
            elif (line.settings, line.documents) != (now, _fingerprint(documents, question)):
                standing.stale.append(question)
        return standing


def _todo(
    standing: _Standing, file: AnswerFile, chosen: Json, options: BatchOptions, tell: Tell
) -> set[Key]:
    """The keys of the questions to ask.

    Raises:
        InvalidRequest: Something has changed, and `changed` is "stop".
    """
    if standing.stale or standing.gone:
        lines = [file.kept[question.key] for question in standing.stale]
        said = f"{file.path}: {_said(lines, len(standing.gone), chosen)}"
        if options.changed == "stop":
            raise InvalidRequest(
                f"{said}; ask these questions again with --on-change ask, keep the answers with "
                "--on-change keep, or name another --out"
            )
        tell(f"{said}; {'kept' if options.changed == 'keep' else 'asked again'}")
    wanted = list(standing.new)
    if options.retry_failed:
        wanted += standing.failed
    if options.changed == "ask":
        wanted += standing.stale
        file.drop(standing.gone)
    return {question.key for question in wanted}


def _fingerprint(documents: Documents, question: Question) -> str | None:
    """Of what the question would be asked of now; None when it cannot be asked."""
    try:
        return documents.fingerprint(documents.scope(question))
    except DocumentNotFound:
        return None


def _said(stale: Sequence[Kept], gone: int, chosen: Json) -> str:
    """What has changed since the answers were made."""
    parts, now = [], fingerprint(chosen)
    others = [kept for kept in stale if kept.settings != now]
    if others:
        changes = list(differences(others[0].record["settings"], chosen))
        more = f", and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        parts.append(
            f"{len(others)} answers were made with other settings "
            f"({'; '.join(changes[:SHOWN])}{more})"
        )
    if moved := len(stale) - len(others):
        parts.append(f"{moved} answers were made before the documents changed")
    if gone:
        parts.append(f"{gone} answers belong to questions that are not in the file")
    return " and ".join(parts)


def _summary(
    questions: Sequence[Question], file: AnswerFile, *, asked_now: int, kept: int, seconds: float
) -> Summary:
    lines = [file.kept[question.key] for question in questions if question.key in file.kept]
    failures = [
        Failure(line.record["id"], line.record["error"]["message"]) for line in lines if line.failed
    ]
    return Summary(
        out=str(file.path),
        questions=len(questions),
        asked=asked_now,
        kept=kept,
        left=len(questions) - len(lines),
        answered=len(lines) - len(failures),
        abstained=sum(line.abstained for line in lines),
        failed=len(failures),
        seconds=round(seconds, 3),
        per_hour=round(3600 * asked_now / seconds, 1) if asked_now and seconds else 0.0,
        failures=tuple(failures),
    )
