"""A batch: which questions are still to be asked, asking them, saving each answer at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexing.errors import DocumentNotFound, InvalidRequest
from rag_app.batch.answer_file import AnswerFile, AnswerLine, Key
from rag_app.batch.asking import QuestionResult, ask_all
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.refresh import Change, Refresh, evidence_kept, with_surroundings
from rag_app.batch.scope import (
    CurrentDocuments,
    Documents,
    answer_settings,
    differences,
    fingerprint,
    question_settings,
)
from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]
Notify = Callable[[str], None]
MAX_DIFFERENCES = 3  # that a message names


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of a run: questions done, those of them that failed, and all to ask in it.

    Before that, `looking`, answers whose quotes are looked up again.
    """

    done: int
    failed: int
    total: int
    looking: bool = False


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question without an answer: its id, and the error."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, and what the file holds after it."""

    out: str  # the file
    questions: int  # in the file of questions
    asked: int  # questions asked in this run
    kept: int  # answers from earlier runs
    left: int  # questions without a line yet
    answered: int  # lines with an answer, in the whole file
    abstained: int  # those of them that abstain
    partial: int  # those of them made without the documents of a lost shard
    failed: int  # lines without an answer
    seconds: float  # duration of the asking
    per_hour: float  # questions per hour; 0 when none was asked
    failures: tuple[FailedQuestion, ...]  # the questions that failed, in order
    # of a refresh: the questions that were asked again, until they are `told`
    changes: tuple[Change, ...] = ()

    def as_dict(self) -> Json:
        """Field names to values."""
        return asdict(self)


def run(  # noqa: PLR0913 - four of them optional, by keyword
    corpus: Corpus,
    questions: Sequence[Question],
    out: Path,
    *,
    options: BatchOptions | None = None,
    progress: Callable[[Step], None] | None = None,
    notify: Notify | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Summary:
    """Ask every question that has no answer in the file yet, and save each answer at once.

    Once `stop` returns True no further question is started; those in progress are finished and
    saved. `notify` is called with a sentence about the answers in the file.

    Raises:
        InvalidRequest: The file holds answers made with something else, and `changed` is "stop";
            or something that is not an answer; or another run is writing to it.
        CorpusError: There is no corpus, or it cannot be used.
        InputError: The file cannot be written.
    """
    options = options or BatchOptions()
    notify = notify or (lambda line: None)
    settings = answer_settings(corpus, options)
    documents = CurrentDocuments(corpus, options.where)
    with AnswerFile(out, [question.key for question in questions]) as file:
        if file.truncated:
            notify(f"{file.path}: its last line was incomplete; that question is asked again")
        plan = _Plan.of(questions, file.lines, documents.read(), settings)
        keys = _keys_to_ask(plan, file, settings, options, notify)
        before: dict[Key, Json] = {}
        if options.changed == "refresh":

            def looked_up(done: int, total: int) -> bool:
                if progress:
                    progress(Step(done, 0, total, looking=True))
                return stop()

            before = _overtaken(questions, file, documents, options, looked_up)
        untold = {one: former for one in file.lines if (former := _untold(file.lines[one]))}
        keys |= before.keys()
        kept = sum(key not in keys for key in file.lines)
        todo = [question for question in questions if question.key in keys][: options.limit]
        done = failed = 0
        start = time.perf_counter()
        for result in ask_all(documents, todo, options, stop=stop):
            key = result.question.key
            values = record(result, question_settings(settings, result.question))
            former = before.get(key) or untold.get(key)
            file.add(key, values | ({"before": former} if former else {}))
            done, failed = done + 1, failed + (result.error is not None)
            if progress:
                progress(Step(done, failed, len(todo)))
        seconds = time.perf_counter() - start
        file.finalize()
        return _summary(questions, file, asked_now=done, kept=kept, seconds=seconds)


def told(out: Path, questions: Sequence[Question]) -> None:
    """Note that the changes of a refresh have been told; until then each one tells them again.

    A line that failed has no new answer to tell yet, and keeps the former one for it.

    Raises:
        InvalidRequest: Another run is writing to the file.
        InputError: It cannot be written.
    """
    with AnswerFile(out, [question.key for question in questions]) as file:
        for key in {question.key for question in questions} & file.lines.keys():
            line = file.lines[key]
            if not line.failed and Change.of(values := line.record):
                file.add(key, {**values, "before": {**values["before"], "told": True}})


def _untold(line: AnswerLine) -> Json | None:
    """The former answer of a line whose change is still to be told, or could not be."""
    former: Json | None = line.record.get("before")
    if former and (line.failed or not former["told"]):
        return {**former, "told": False}
    return None


def _overtaken(
    questions: Sequence[Question],
    file: AnswerFile,
    documents: CurrentDocuments,
    options: BatchOptions,
    step: Callable[[int, int], bool],
) -> dict[Key, Json]:
    """What a refresh asks again, with the former answers; the lines of others note that they hold.

    `step` is called with answers looked up, and how many there are; it says whether to stop.
    """
    before: dict[Key, Json] = {}
    lines = [(one, file.lines[one.key]) for one in questions if one.key in file.lines]
    answers = [(one, line) for one, line in lines if not line.failed]
    for done, (question, line) in enumerate(answers, 1):
        current = documents.read()
        refresh = Refresh(documents.corpus, current, options.fields)
        if former := refresh.overtaken(line.record, question):
            before[question.key] = former
        elif line.documents != (now := _fingerprint(current, question)):
            file.add(question.key, {**line.record, "fingerprint": f"{line.settings}-{now}"})
        if step(done, len(answers)):
            break
    return before


def record(result: QuestionResult, settings: Json) -> Json:
    """A line of the file."""
    from generator.answer_json import as_json

    question = result.question
    answer: Json = dict(as_json(result.answer)) if result.answer else {"answer": None}
    if result.answer and result.evidence:
        answer["evidence"], known = evidence_kept(result.answer, result.evidence)
        answer = with_surroundings(answer, known)
    return {
        "id": question.id,
        "question": question.text,
        "document": question.document,
        "documents": [{"id": one.id, "title": one.title} for one in result.scope],
        "error": asdict(result.error) if result.error else None,
        **{name: value for name, value in answer.items() if name != "question"},
        "fingerprint": f"{fingerprint(settings)}-{result.documents}",
        "settings": settings,
    }


@dataclass(frozen=True, slots=True)
class _Plan:
    """The questions of a batch by the state of their answers, before asking."""

    new: list[Question]
    again: list[Question]  # failed, or answered without a lost shard
    stale: list[Question]  # answered with other settings or documents
    orphans: list[Key]  # of answers to questions that are not in the file of questions

    @classmethod
    def of(
        cls,
        questions: Sequence[Question],
        lines: dict[Key, AnswerLine],
        documents: Documents,
        settings: Json,
    ) -> _Plan:
        keys = {question.key for question in questions}
        plan = cls([], [], [], [key for key in lines if key not in keys])
        for question in questions:
            line = lines.get(question.key)
            if line is None:
                plan.new.append(question)
            elif line.failed:
                plan.again.append(question)
            elif (line.settings, line.documents) != (
                fingerprint(question_settings(settings, question)),
                _fingerprint(documents, question),
            ):
                plan.stale.append(question)
            elif line.partial:
                plan.again.append(question)
        return plan


def _keys_to_ask(
    plan: _Plan, file: AnswerFile, settings: Json, options: BatchOptions, notify: Notify
) -> set[Key]:
    """The keys of the questions to ask; refused where a change is to "stop" it."""
    if plan.stale or plan.orphans:
        lines = [file.lines[question.key] for question in plan.stale]
        changes = f"{file.path}: {_describe_changes(lines, len(plan.orphans), settings)}"
        if options.changed == "stop":
            raise InvalidRequest(
                f"{changes}; ask changed questions again with --on-change ask, only those that "
                "changed documents concern with --refresh, keep all answers with --on-change "
                "keep, or name another --out"
            )
        notify(f"{changes}; {_outcome(plan, options)}")
    questions = list(plan.new)
    if options.retry_failed:
        questions += plan.again
    if options.changed == "ask":
        questions += plan.stale
    return {question.key for question in questions}


def _outcome(plan: _Plan, options: BatchOptions) -> str:
    """What happens to the answers that a change concerns. None is ever deleted."""
    if options.changed in {"keep", "refresh"} or not plan.stale:
        return "kept" if options.changed == "keep" or not plan.stale else "looked up again"
    return f"{len(plan.stale)} asked again" + (", the others kept" if plan.orphans else "")


def _fingerprint(documents: Documents, question: Question) -> str | None:
    """Of the documents that the question would be asked of now; None when it cannot be asked."""
    try:
        return documents.fingerprint(documents.scope(question))
    except DocumentNotFound:
        return None


def _describe_changes(stale: Sequence[AnswerLine], orphans: int, settings: Json) -> str:
    """What has changed since the answers were made."""
    parts, now = [], fingerprint(settings)
    others = [line for line in stale if line.settings != now]
    if others:
        changes = list(differences(others[0].record["settings"], settings))
        rest = len(changes) - MAX_DIFFERENCES
        more = f", and {rest} more" if rest > 0 else ""
        parts.append(
            f"{len(others)} answers were made with other settings "
            f"({'; '.join(changes[:MAX_DIFFERENCES])}{more})"
        )
    if older := len(stale) - len(others):
        parts.append(f"{older} answers were made before the documents changed")
    if orphans:
        parts.append(f"{orphans} answers belong to questions that are not in the file")
    return " and ".join(parts)


def _summary(
    questions: Sequence[Question], file: AnswerFile, *, asked_now: int, kept: int, seconds: float
) -> Summary:
    lines = [file.lines[question.key] for question in questions if question.key in file.lines]
    failures = [
        FailedQuestion(line.record["id"], line.record["error"]["message"])
        for line in lines
        if line.failed
    ]
    return Summary(
        out=str(file.path),
        questions=len(questions),
        asked=asked_now,
        kept=kept,
        left=len(questions) - len(lines),
        answered=len(lines) - len(failures),
        abstained=sum(line.abstained for line in lines),
        partial=sum(line.partial for line in lines),
        failed=len(failures),
        seconds=round(seconds, 3),
        per_hour=round(3600 * asked_now / seconds, 1) if asked_now and seconds else 0.0,
        failures=tuple(failures),
        changes=tuple(change for line in lines if (change := Change.of(line.record))),
    )
