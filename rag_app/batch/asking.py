"""Questions asked of a corpus, several in parallel; one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from generator.answer import Answer
from generator.evidence import Evidence
from indexing.change_detection import DocumentIdentity
from indexing.error_log import unexpected
from indexing.errors import DocumentNotFound, InputError, InvalidRequest, RagAppError
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.scope import CurrentDocuments
from rag_app.request_fields import ask_request


@dataclass(frozen=True, slots=True)
class QuestionError:
    """Why a question has no answer."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """A question with its answer and what it may rest on, or its error.

    `scope` has the documents that it was limited to, none for all, and `documents` the fingerprint
    of their content.
    """

    question: Question
    scope: tuple[DocumentIdentity, ...] = ()
    documents: str = ""
    answer: Answer | None = None
    error: QuestionError | None = None
    evidence: Evidence | None = None


def ask_all(
    documents: CurrentDocuments,
    questions: Iterable[Question],
    options: BatchOptions,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[QuestionResult]:
    """Ask questions; yields results as they are ready, which is in order with one worker.

    Questions are taken a little ahead of the asking, and no further one once `stop` returns True,
    which is called after each result.

    Raises:
        CorpusError: There is no corpus, or it cannot be used; nor can any other question be asked.
        ModelError: The same about a model.
    """
    workers = options.workers
    waiting = iter(questions)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="batch")
    running: set[Future[QuestionResult]] = set()
    try:
        while True:
            if stop():
                running = {future for future in running if not future.cancel()}
                waiting = iter(())
            for question in islice(waiting, 2 * workers - len(running)):
                running.add(pool.submit(ask_one, documents, question, options))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda each: each.exception() is not None):
                yield future.result()  # those that raise come last, so that no answer is lost
    finally:
        for future in running:
            future.cancel()
        pool.shutdown()


def ask_one(
    documents: CurrentDocuments, question: Question, options: BatchOptions | None = None
) -> QuestionResult:
    """Ask one question; an error that concerns it alone becomes part of the result.

    Raises:
        CorpusError: An error that every question would meet.
        ModelError: The same.
    """
    options = options or BatchOptions()
    current = documents.read()
    scope: tuple[DocumentIdentity, ...] = ()
    try:
        if question.problem:
            raise InvalidRequest(question.problem)
        scope = current.scope(question)
        limits = {"documents": [one.id for one in scope]} if scope else {}
        fields = {**options.fields, **question.fields, **limits}
        request = ask_request(question.text, fields)
        evidence = documents.corpus.evidence(request)
        response = documents.corpus.answer(request)
    except (InputError, DocumentNotFound) as error:
        message = str(error)
        return QuestionResult(question, scope, error=QuestionError(type(error).__name__, message))
    except RagAppError:
        raise
    except Exception as error:
        message = unexpected(error)
        return QuestionResult(question, scope, error=QuestionError(type(error).__name__, message))
    known = current.fingerprint(scope)
    return QuestionResult(question, scope, known, answer=response, evidence=evidence)
