"""Answers in the making. Each is made by a thread of its own, so that it outlives its page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from generator.answer import ContextReady, TextDelta
from generator.request import AskRequest
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Filter
from rag_app.chat.conversation import Chat, Checked, Exchange
from rag_app.chat.conversation_store import Chats
from rag_app.chat.question_queue import Asking, Waiting


class Run:
    """One answer in the making.

    Attributes:
        chat: The conversation before it.
        exchange: The question, and the answer as far as it has come.
        number: Which exchange of the conversation is checked; None for a new one.
    """

    def __init__(
        self, key: str, chat: Chat, exchange: Exchange, *, number: int | None = None
    ) -> None:
        self.key, self.chat, self.exchange, self.number = key, chat, exchange, number
        self.halted = threading.Event()

    @property
    def whole(self) -> Chat:
        """The conversation with it."""
        if self.number is None:
            return self.chat.followed_by(self.exchange)
        return self.chat.with_exchange(self.number, self.exchange)


class Runs:
    """The answers that are being made, at most one a conversation.

    Args:
        asking: What is asked.
        chats: Where conversations are kept.
    """

    def __init__(self, asking: Asking, chats: Chats) -> None:
        self._asking, self._chats = asking, chats
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def start(self, key: str, chat: Chat, exchange: Exchange) -> Run:
        """Begin to answer.

        Raises:
            InvalidRequest: The conversation waits for an answer already.
        """
        run = Run(key, chat, exchange)
        self._chats.keep(key, run.whole)
        return self._begun(run, self._answer)

    def check(self, key: str, chat: Chat, number: int) -> Run:
        """Begin to check whether an answer depends on the place of its evidence.

        Raises:
            InvalidRequest: There is no such answer, or the conversation waits for one.
        """
        exchange = chat.exchanges[number]
        if exchange.answer is None:
            raise InvalidRequest("only a complete answer can be checked; ask again first")
        checking = replace(exchange, state="checking", note="", check=None)
        return self._begun(Run(key, chat, checking, number=number), self._check)

    def _begun(self, run: Run, work: Callable[[Run], None]) -> Run:
        with self._lock:
            if run.chat.id in self._runs:
                raise InvalidRequest(
                    "this conversation is waiting for an answer; stop it, or wait until it is done"
                )
            self._runs[run.chat.id] = run
        threading.Thread(target=work, args=[run], name="answer", daemon=True).start()
        return run

    def of(self, chat: Chat) -> Run | None:
        """What is being answered in a conversation."""
        with self._lock:
            return self._runs.get(chat.id)

    def stop(self, chat: Chat) -> None:
        """End an answer where it is; what there is of it is kept."""
        run = self.of(chat)
        if run is not None:
            run.halted.set()

    def _answer(self, run: Run) -> None:
        try:
            ended = self._followed(run)
        except RagAppError as error:
            ended = replace(run.exchange, state="failed", note=str(error))
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            note = f"the answer failed unexpectedly ({said}); try again"
            ended = replace(run.exchange, state="failed", note=note)
        self._end(run, ended)

    def _check(self, run: Run) -> None:
        before = replace(run.exchange, state="done", note="")
        try:
            ended = replace(before, check=self._checked(run))
        except RagAppError as error:
            ended = replace(before, note=str(error))
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            ended = replace(before, note=f"the check failed unexpectedly ({said}); try again")
        self._end(run, ended)

    def _end(self, run: Run, ended: Exchange) -> None:
        """Keep what there is; over only when it is kept, and when the next one may begin."""
        over = Run(run.key, run.chat, ended, number=run.number)
        try:
            self._chats.keep(run.key, over.whole)
        except RagAppError as error:
            ended = replace(ended, note=str(error))
        with self._lock:
            self._runs.pop(run.chat.id, None)
            run.exchange = ended

    def _followed(self, run: Run) -> Exchange:
        """The exchange at its end; on the way there, `run.exchange` shows it."""
        request = _request(run.exchange, run.chat)
        for event in self._asking.stream(request, who=run.key, stop=run.halted):
            if isinstance(event, Waiting):
                run.exchange = replace(run.exchange, note=str(event.ahead))
            elif isinstance(event, ContextReady):
                run.exchange = replace(run.exchange, state="reading", note="")
            elif isinstance(event, TextDelta):
                text = run.exchange.text + event.text
                run.exchange = replace(run.exchange, state="writing", text=text, note="")
            else:
                return replace(run.exchange, state="done", answer=event.answer, note="")
        return replace(run.exchange, state="stopped", note="")

    def _checked(self, run: Run) -> Checked | None:
        """What came of a check; None when it was stopped."""

        def progress(done: int, ways: int) -> None:
            run.exchange = replace(run.exchange, note=f"{done} of {ways}" if ways else "")

        exchange = run.exchange
        assert exchange.answer is not None and run.number is not None
        request = _request(exchange, run.chat.upto(run.number))
        found = self._asking.check(
            request, exchange.answer, who=run.key, stop=run.halted, progress=progress
        )
        return Checked.of(found) if found else None


def _request(exchange: Exchange, before: Chat) -> AskRequest:
    """What is asked in an exchange, after what was said before."""
    return AskRequest(
        exchange.question,
        exchange.mode,
        where=Filter(documents=exchange.documents),
        history=before.turns(),
    )
