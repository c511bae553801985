"""What is new for the standing questions of conversations, told behind the page."""

from __future__ import annotations

import threading
from contextlib import closing, suppress

from cachetools import LRUCache

from generator.answer import Citation
from indexing.error_log import logged
from indexing.errors import Busy, CollectionNotFound, InvalidRequest, RagAppError
from indexing.filter import Scope
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import ConversationStore
from rag_app.chat.queues.answer_jobs import AnswerJobs
from rag_app.chat.queues.question_queue import QuestionQueue, Stopped
from rag_app.chat.queues.standing import question_of, standing_in, stopped, with_told

PATIENCE = 2.0  # seconds before a look for which too many were waiting


class Tellings:
    """Tells people what is new, whose page is open or is opened, one person after another.

    Nothing is looked for while nobody has the page open: what came meanwhile is told when they do.
    """

    def __init__(
        self, questions: QuestionQueue, conversations: ConversationStore, jobs: AnswerJobs
    ) -> None:
        self._questions, self._conversations, self._jobs = questions, conversations, jobs
        self._corpus = questions.corpus
        self._seen: LRUCache[str, str] = LRUCache(1024)  # what was looked through, by key
        self._pending: dict[str, Scope] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._worker: threading.Thread | None = None

    def close(self) -> None:
        """Look for nothing more."""
        self._closed.set()

    def look(self, key: str, reader: Scope) -> None:
        """Begin to look for what is new for a person's conversations, once for each revision."""
        try:
            revision = self._corpus.revision
        except RagAppError:
            return
        with self._lock:
            if self._closed.is_set() or self._seen.get(key) == revision:
                return
            self._seen[key], self._pending[key] = revision, reader
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="tell", daemon=True)
                self._worker.start()

    def stop(self, key: str, id_: str, name: str) -> Conversation:
        """End a standing question of a conversation, which is returned.

        Raises:
            InvalidRequest: There is no such conversation.
            CorpusError: It cannot be saved.
        """
        asked = self._conversations.get(key, id_)
        changed = self._jobs.update(key, id_, lambda one: stopped(one, name))
        for exchange in standing_in(asked) if asked else ():
            if exchange.standing == name:
                self._forget(exchange)
        return changed

    def delete(self, key: str, id_: str) -> None:
        """Delete a conversation with all that is remembered for it."""
        asked = self._conversations.get(key, id_)
        self._jobs.delete(key, id_)
        for exchange in standing_in(asked) if asked else ():
            self._forget(exchange)

    def _forget(self, exchange: Exchange) -> None:
        with suppress(RagAppError):  # it is some bytes that nobody reads again
            question_of(self._corpus, exchange, Scope(None)).forget()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._pending or self._closed.is_set():
                    self._worker = None
                    return
                key = next(iter(self._pending))  # who has waited longest
                reader = self._pending.pop(key)
            try:
                self._tell_all(key, reader)
            except Exception as error:
                with self._lock:
                    self._seen.pop(key, None)  # the next time that the page looks
                if isinstance(error, Busy):
                    self._closed.wait(PATIENCE)
                    self.look(key, reader)
                elif not isinstance(error, (RagAppError, Stopped)):
                    logged(error)

    def _tell_all(self, key: str, reader: Scope) -> None:
        for conversation in self._conversations.all(key):
            for exchange in standing_in(conversation):
                # It may be deleted meanwhile, or a collection be somebody else's.
                with suppress(InvalidRequest, CollectionNotFound):
                    self._tell(key, conversation.id, exchange, reader)

    def _tell(self, key: str, id_: str, exchange: Exchange, reader: Scope) -> None:
        """Tell each place; it is remembered as told when the next is looked for."""
        with closing(question_of(self._corpus, exchange, reader).new()) as places:
            while told := self._questions.turn(lambda: next(places, None), key, self._closed):
                if not self._goes_on(key, id_, exchange.standing, told.citation):
                    break
                if self._closed.is_set():
                    return
            else:
                return
        self._forget(exchange)

    def _goes_on(self, key: str, id_: str, name: str, place: Citation) -> bool:
        """Tell a place; whether the question still stands."""
        changed = self._jobs.update(
            key, id_, lambda one: with_told(one, name, place), in_place=False
        )
        return any(one.standing == name for one in standing_in(changed))
