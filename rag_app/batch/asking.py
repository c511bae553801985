"""Questions asked of a corpus, several at once; one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from generator.request import AskRequest
from indexing.errors import (
    DocumentNotFound,
    InputError,
    InvalidRequest,
    RagAppError,
)
from indexing.filter import Filter
from rag_app.batch.questions import Question
from rag_app.batch.scope import Documents

if TYPE_CHECKING:
    from generator.answer import Answer, Mode
    from indexing.change_detection import Held
    from rag_app.corpus.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a question has no answer.

    Attributes:
        kind: The name of the error.
        message: What failed, and what to do next.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with what became of it: an answer or a failure, never both.

    Attributes:
        question: What was asked.
        scope: The documents that it was asked of; none for all.
        documents: Fingerprint of their content.
        answer: The answer.
        failed: Why there is none.
    """

    question: Question
    scope: tuple[Held, ...] = ()
    documents: str = ""
    answer: Answer | None = None
    failed: Failed | None = None


def asked(  # noqa: PLR0913 - what to ask, how, and until when
    corpus: Corpus,
    questions: Iterable[Question],
    *,
    answer: Mode | None = None,
    k: int = 5,
    workers: int = 1,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Outcome]:
    """Ask questions; outcomes as they are ready, which is in order with one worker.

    Args:
        corpus: What to ask.
        questions: Taken one by one, a little ahead of the asking.
        answer: "quote" or "free"; None takes the corpus's choice.
        k: Documents to take evidence from, at most.
        workers: Questions asked at once.
        stop: Asked after each outcome; once it says so, no question is begun any more.

    Raises:
        CorpusError: There is no corpus, or it cannot be used; nor can any other question be asked.
        ModelError: The same about a model.
    """
    if workers < 1:
        raise InvalidRequest("workers must be at least 1")
    waiting = iter(questions)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="batch")
    running: set[Future[Outcome]] = set()
    try:
        while True:
            if stop():
                running = {future for future in running if not future.cancel()}
                waiting = iter(())
            for question in islice(waiting, 2 * workers - len(running)):
                running.add(pool.submit(ask_one, corpus, question, answer=answer, k=k))
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
    corpus: Corpus, question: Question, *, answer: Mode | None = None, k: int = 5
) -> Outcome:
    """Ask one question; what is wrong with it alone becomes a failure.

    Raises:
        CorpusError: Something is wrong that would fail every question.
        ModelError: The same.
    """
    documents = Documents.of(corpus)
    scope: tuple[Held, ...] = ()
    try:
        if question.problem:
            raise InvalidRequest(question.problem)
        scope = documents.scope(question)
        where = Filter(documents=tuple(one.id for one in scope))
        found = corpus.answer(AskRequest(question.text, answer, k, where))
    except (InputError, DocumentNotFound) as error:
        return Outcome(question, scope, failed=Failed(type(error).__name__, str(error)))
    except RagAppError:
        raise
    except Exception as error:
        said = " ".join(f"{error}".split())[:300] or "no message"
        return Outcome(question, scope, failed=Failed(type(error).__name__, said))
    return Outcome(question, scope, documents.fingerprint(scope), answer=found)
