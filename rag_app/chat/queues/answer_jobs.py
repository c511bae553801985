"""Answers in progress. Each is made by a thread of its own, so that it outlives its page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from generator.answer import ContextReady, TextDelta
from generator.request import AskRequest
from indexing.error_log import unexpected
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Filter, Scope
from indexing.message import N_
from rag_app.chat.conversation import Conversation, Exchange, PositionCheckRecord
from rag_app.chat.conversation_store import ConversationStore
from rag_app.chat.queues.question_queue import QuestionQueue, Waiting
from rag_app.chat.queues.standing import begun

WAITING = N_("this conversation is waiting for an answer; stop it, or wait until it is done")
CHANGED = N_(
    "this conversation has changed in another window; look at it as it is now, then try again"
)


@dataclass(eq=False)
class AnswerJob:
    """One answer in progress."""

    key: str  # of the conversations that it belongs to
    conversation: Conversation  # before it
    exchange: Exchange  # the question, and the answer so far
    scope: Scope  # what whoever asks may read
    number: int | None = None  # which exchange is checked; None for a new one
    stop: threading.Event = field(default_factory=threading.Event)  # set to end it
    deleted: bool = False  # whether its conversation was meanwhile; nothing is saved then
    _over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def advance(self, exchange: Exchange) -> None:
        """How far it has come; nothing after its end."""
        with self._lock:
            if not self._over:
                self.exchange = exchange

    def end(self) -> bool:
        """Whether it ends now, and not before: what comes later is not shown or saved."""
        with self._lock:
            ends, self._over = not self._over, True
            return ends

    def result(self, exchange: Exchange) -> Conversation:
        """The conversation with this exchange in it."""
        if self.number is None:
            return self.conversation.followed_by(exchange)
        rating = self.conversation.exchanges[self.number].rating  # it may have been given meanwhile
        exchange = replace(exchange, rating=rating)
        return self.conversation.with_exchange(self.number, exchange)


class AnswerJobs:
    """The answers in progress, at most one per conversation."""

    def __init__(self, questions: QuestionQueue, conversations: ConversationStore) -> None:
        self._questions, self._conversations = questions, conversations
        self._jobs: dict[str, AnswerJob] = {}
        self._lock = threading.Lock()  # of the jobs; never held over the disk, as pages wait for it
        self._writers: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    def _writer(self, id_: str) -> threading.Lock:
        """The lock of whoever writes one conversation; who reads it, or another, never waits."""
        with self._lock:
            return self._writers.setdefault(id_, threading.Lock())

    def start(
        self,
        key: str,
        conversation: Conversation,
        exchange: Exchange,
        scope: Scope,
        *,
        replaces: int | None = None,
    ) -> AnswerJob:
        """Begin to answer, from what a person may see.

        The answer takes the place of the exchange that it replaces, and of those after it.

        Raises:
            InvalidRequest: The conversation waits for an answer already, or has changed meanwhile.
        """
        job = AnswerJob(key, conversation.upto(replaces), exchange, scope)
        return self._launch(job, self._answer, upto=replaces, save=True)

    def check(self, key: str, conversation: Conversation, number: int, scope: Scope) -> AnswerJob:
        """Begin to check whether an answer depends on the position of its evidence.

        It is limited to what a person may see, as in `start`.

        Raises:
            InvalidRequest: There is no such answer, or the conversation waits for one, or has
                changed meanwhile.
        """
        exchange = conversation.exchanges[number]
        if exchange.answer is None:
            raise InvalidRequest(N_("only a complete answer can be checked; ask again first"))
        exchange = replace(exchange, state="checking", note="", check=None)
        job = AnswerJob(key, conversation, exchange, scope, number=number)
        return self._launch(job, self._check, upto=None, save=False)

    def _launch(
        self, job: AnswerJob, work: Callable[[AnswerJob], None], *, upto: int | None, save: bool
    ) -> AnswerJob:
        with self._writer(job.conversation.id):
            if self.of(job.conversation) is not None:
                raise InvalidRequest(WAITING)
            stored = self._conversations.get(job.key, job.conversation.id)
            now = (stored or replace(job.conversation, exchanges=())).upto(upto)
            if not now.goes_as(job.conversation):
                raise InvalidRequest(CHANGED)
            job.conversation = now  # it may have been rated, or named, meanwhile
            with self._lock:
                self._jobs[job.conversation.id] = job
            try:
                if save:
                    self._conversations.save(job.key, job.result(job.exchange))
            except BaseException:
                with self._lock:
                    del self._jobs[job.conversation.id]
                raise
        threading.Thread(target=work, args=[job], name="answer", daemon=True).start()
        return job

    def of(self, conversation: Conversation) -> AnswerJob | None:
        """The job of a conversation, if it has one."""
        with self._lock:
            return self._jobs.get(conversation.id)

    def stop(self, conversation: Conversation) -> None:
        """End an answer where it is, at once; its text so far is kept.

        Its thread ends when it next looks at `stop`: between chunks of a prompt and tokens. What
        cannot be interrupted, such as the loading of a model, goes on for the next answer.
        """
        job = self.of(conversation)
        if job is None:
            return
        job.stop.set()
        checked = job.number is not None
        self._end(job, replace(job.exchange, state="done" if checked else "stopped", note=""))

    def update(
        self,
        key: str,
        id_: str,
        change: Callable[[Conversation], Conversation],
        *,
        in_place: bool = True,
    ) -> Conversation:
        """Change a conversation, also while it waits for an answer; unchanged, nothing is saved.

        It becomes the latest of the list unless it stays `in_place`.

        Raises:
            InvalidRequest: There is none of this id.
            CorpusError: It cannot be saved.
        """
        with self._writer(id_):
            stored = self._conversations.get(key, id_)
            if stored is None:
                raise InvalidRequest(N_("this conversation was deleted; choose another"))
            with self._lock:
                job = self._jobs.get(id_)
            if job is not None and job.key == key:
                job.conversation = change(job.conversation)
            changed = change(stored)
            if changed != stored:
                self._conversations.save(key, changed, in_place=in_place)
            return changed

    def delete(self, key: str, id_: str) -> None:
        """Delete a conversation for good, and end the answer that it waits for."""
        with self._writer(id_):
            with self._lock:
                job = self._jobs.get(id_)
            own = job is not None and job.key == key
            if job is not None and own:
                job.deleted = True
            self._conversations.delete(key, id_)
        if job is not None and own:
            job.stop.set()
            self._end(job, replace(job.exchange, state="stopped", note=""))

    def _answer(self, job: AnswerJob) -> None:
        try:
            exchange = self._stream(job)
        except RagAppError as error:
            exchange = replace(job.exchange, state="failed", note=str(error))
        except Exception as error:
            note = N_("the answer %(failed)s; try again", failed=unexpected(error))
            exchange = replace(job.exchange, state="failed", note=note)
        self._end(job, exchange)

    def _check(self, job: AnswerJob) -> None:
        exchange = replace(job.exchange, state="done", note="")
        try:
            exchange = replace(exchange, check=self._check_position(job))
        except RagAppError as error:
            exchange = replace(exchange, note=str(error))
        except Exception as error:
            note = N_("the check %(failed)s; try again", failed=unexpected(error))
            exchange = replace(exchange, note=note)
        self._end(job, exchange)

    def _end(self, job: AnswerJob, exchange: Exchange) -> None:
        """Save the result; over only when it is saved, and when the next job may begin."""
        if not job.end():
            return
        with self._writer(job.conversation.id):  # so that one deleted meanwhile does not come back
            try:
                if not job.deleted:
                    self._conversations.save(job.key, job.result(exchange))
            except RagAppError as error:
                exchange = replace(exchange, note=str(error))
            with self._lock:
                self._jobs.pop(job.conversation.id, None)
                job.exchange = exchange

    def _stream(self, job: AnswerJob) -> Exchange:
        """The exchange at its end; on the way there, `job.exchange` follows it."""
        if standing := begun(self._questions.corpus, job.exchange, job.scope):
            return standing
        request = _request(job.exchange, job.conversation)
        for event in self._questions.stream(request, job.scope, who=job.key, stop=job.stop):
            if isinstance(event, Waiting):
                job.advance(replace(job.exchange, note=str(event.ahead)))
            elif isinstance(event, ContextReady):
                job.advance(replace(job.exchange, state="reading", note=""))
            elif isinstance(event, TextDelta):
                text = job.exchange.text + event.text
                job.advance(replace(job.exchange, state="writing", text=text, note=""))
            else:
                return replace(job.exchange, state="done", answer=event.answer, note="")
        return replace(job.exchange, state="stopped", note="")

    def _check_position(self, job: AnswerJob) -> PositionCheckRecord | None:
        """The result of a check; None when it was stopped."""

        def progress(done: int, variants: int) -> None:
            job.advance(
                replace(
                    job.exchange,
                    note=N_("%(done)s of %(all)s", done=done, all=variants) if variants else "",
                )
            )

        exchange = job.exchange
        assert exchange.answer is not None and job.number is not None
        request = _request(exchange, job.conversation.upto(job.number))
        check = self._questions.check(
            request, job.scope, exchange.answer, who=job.key, stop=job.stop, progress=progress
        )
        return PositionCheckRecord.of(check) if check else None


def _request(exchange: Exchange, before: Conversation) -> AskRequest:
    """The question of an exchange, after the conversation before it."""
    return AskRequest(
        exchange.question,
        exchange.mode,
        where=Filter(documents=exchange.documents, collections=exchange.collections),
        history=before.turns(),
        length=exchange.length,
        form=exchange.form,
        read_as=exchange.read_as,
    )
