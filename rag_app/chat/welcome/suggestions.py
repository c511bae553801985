"""The overview and the suggested questions for somebody's latest documents.

A question is suggested only after it was asked: if the extractive answer is probable and quotes the
sentence that the question was made from. That is done behind the page, while nobody waits for an
answer and no file is being read, and once for each state of the documents.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest

from cachetools import LRUCache

from generator.answer import Answer, AnswerReady
from generator.overview.overview import Overview
from generator.request import AskRequest
from indexing.documents import Document
from indexing.error_log import logged
from indexing.errors import CorpusNotFound, RagAppError
from indexing.filter import Scope
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.queues.question_queue import QuestionQueue
from rag_app.chat.welcome.candidates import Candidate, candidates
from rag_app.corpus.access import SharedCorpus
from rag_app.corpus.reader import CorpusReader

SUGGESTIONS = 3
LATEST = 12  # documents that questions are made of
MOST_TRIES = 9  # questions that are asked to find them, and as many requests
LONGEST = 300_000  # words of a document that is looked at
LEAST_PROBABILITY = 0.6  # that the documents answer one
PATIENCE = 0.5  # seconds between looks at whether somebody waits


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What is shown of documents before the first question: the overview of the latest, questions.

    The overview is None as long as it is being made, the revision "" until all is complete.
    """

    about: Overview | None = None
    questions: tuple[str, ...] = ()
    revision: str = ""


class Suggestions:
    """Makes first looks, one person after another."""

    def __init__(
        self, corpus: SharedCorpus, questions: QuestionQueue, ingest_queue: IngestQueue
    ) -> None:
        self._corpus, self._questions, self._ingest_queue = corpus, questions, ingest_queue
        self._looks: LRUCache[str | None, tuple[str, FirstLook]] = LRUCache(256)
        self._verdicts: LRUCache[tuple[Scope, str, str], bool] = LRUCache(1024)
        self._pending: dict[str | None, None] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._worker: threading.Thread | None = None

    def close(self) -> None:
        """Ask no further question."""
        self._closed.set()

    def of(self, person: str | None) -> FirstLook:
        """What is known now of what a person may see; the rest is begun behind the page.

        Nothing of an earlier state of the documents, of which they may not see all any more.
        """
        try:
            revision = self._corpus.revision
        except RagAppError:
            return FirstLook()
        if not revision:
            return FirstLook()
        with self._lock:
            state, look = self._looks.get(person, ("", FirstLook()))
            if state == revision:
                return look
            self._pending[person] = None
            if self._worker is None and not self._closed.is_set():
                self._worker = threading.Thread(target=self._work, name="suggest", daemon=True)
                self._worker.start()
        return FirstLook()

    def known(self, person: str | None) -> FirstLook:
        """As `of`, without beginning anything."""
        with self._lock:
            known: FirstLook = self._looks.get(person, ("", FirstLook()))[1]
            return known

    def _work(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                if not self._pending:
                    self._worker = None
                    return
                person = next(iter(self._pending))
                del self._pending[person]
            try:
                self._look(person)
            except RagAppError:
                continue  # whoever asks a question is told
            except Exception as error:
                logged(error)

    def _look(self, person: str | None) -> None:
        """Make a first look, and keep each state of it; a change of documents ends it."""
        while self._ingest_queue.is_busy():
            if self._closed.wait(PATIENCE):
                return
        revision = self._corpus.revision
        if self.known(person).revision == revision:
            return  # asked for again while it was made
        with suppress(CorpusNotFound):
            corpus = self._corpus.seen_by(Scope(person))
            latest = [one for one in corpus.documents() if one.words <= LONGEST]
            overviews = [corpus.overview(one.id) for one in latest[: -LATEST - 1 : -1]]
            look = FirstLook(overviews[0] if overviews else None)
            self._keep(person, revision, look)
            for question in self._answerable(overviews, corpus, revision):
                look = replace(look, questions=(*look.questions, question))
                self._keep(person, revision, look)
            self._keep(person, revision, replace(look, revision=revision))

    def _keep(self, person: str | None, revision: str, look: FirstLook) -> None:
        with self._lock:
            self._looks[person] = (revision, look)

    def _answerable(
        self, overviews: list[Overview], corpus: CorpusReader, revision: str
    ) -> Iterator[str]:
        """Questions that are answered from where they were made: of each document in turn.

        Those that ask for one fact first; last what the latest documents can always be asked.
        """
        candidates = [self._candidates(about, corpus) for about in overviews]
        in_order = [one for round_ in zip_longest(*candidates) for one in round_ if one is not None]
        in_order.sort(key=lambda pair: pair[1].general)
        facts = [one for one in in_order if not one[1].request]
        requests = [one for each in candidates for one in each if one[1].request]
        questions: set[str] = set()
        for document, candidate in (*facts[:MOST_TRIES], *requests[:MOST_TRIES]):
            if len(questions) == SUGGESTIONS or self._is_over(revision):
                return
            if candidate.question not in questions and self._answers(document, candidate, corpus):
                questions.add(candidate.question)
                yield candidate.question

    def _candidates(
        self, about: Overview, corpus: CorpusReader
    ) -> list[tuple[Document, Candidate]]:
        document = corpus.document(about.document)
        return [(document, each) for each in candidates(document, about)]

    def _is_over(self, revision: str) -> bool:
        """Whether nobody needs the questions any more; waits while somebody else asks."""
        while not self._questions.is_idle:
            if self._closed.wait(PATIENCE):
                return True
        return self._closed.is_set() or self._corpus.revision != revision

    def _answers(self, document: Document, candidate: Candidate, corpus: CorpusReader) -> bool:
        """Whether the documents probably answer a question, and from where it was made."""
        key = (corpus.scope, document.digest, candidate.question)
        if key not in self._verdicts:  # so that one more document does not have all asked again
            answer = self._answer(AskRequest(candidate.question, "quote"), corpus)
            self._verdicts[key] = answer is not None and _answers(answer, document, candidate)
        return self._verdicts[key]

    def _answer(self, request: AskRequest, corpus: CorpusReader) -> Answer | None:
        """An answer without a place in the queue, in which nobody is to wait for it."""
        for event in corpus.events(request, stop=self._closed):
            if isinstance(event, AnswerReady):
                return event.answer
        return None


def _answers(answer: Answer, document: Document, candidate: Candidate) -> bool:
    if candidate.request:
        return answer.kind not in {"question", "introduction"} and not answer.abstained
    return (
        not answer.abstained
        and answer.kind == "question"
        and (answer.probability is None or answer.probability >= LEAST_PROBABILITY)
        and any(
            one.document == document.id and one.start < candidate.end and candidate.start < one.end
            for one in answer.citations
        )
    )
