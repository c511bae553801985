"""Answers in the making. Each is made by a thread of its own, so that it outlives its page."""

from __future__ import annotations

import threading
from dataclasses import replace

from generator.answer import ContextReady, TextDelta
from generator.conversation import Turn
from indexing.errors import InvalidRequest, RagAppError
from rag_app.chat.asking import Asking, Question, Waiting
from rag_app.chat.chats import Chats
from rag_app.chat.conversation import Chat, Exchange
from retriever.filters import Filter


class Run:
    """One answer in the making.

    Attributes:
        chat: The conversation before it.
        exchange: The question, and the answer as far as it has come.
    """

    def __init__(self, key: str, chat: Chat, exchange: Exchange) -> None:
        self.key, self.chat, self.exchange = key, chat, exchange
        self.halted = threading.Event()

    @property
    def whole(self) -> Chat:
        """The conversation with it."""
        return self.chat.followed_by(self.exchange)


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
        with self._lock:
            if chat.id in self._runs:
                raise InvalidRequest(
                    "this conversation is being answered; stop that, or wait for it"
                )
            self._runs[chat.id] = run
        threading.Thread(target=self._answer, args=[run], name="answer", daemon=True).start()
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
        try:
            self._chats.keep(run.key, run.chat.followed_by(ended))
        except RagAppError as error:
            ended = replace(ended, note=str(error))
        with self._lock:  # over only when it is kept, and when the next one may begin
            self._runs.pop(run.chat.id, None)
            run.exchange = ended

    def _followed(self, run: Run) -> Exchange:
        """The exchange at its end; on the way there, `run.exchange` shows it."""
        asked = run.exchange
        question = Question(
            asked.question,
            asked.mode,
            where=Filter(documents=asked.documents),
            history=tuple(Turn(each.question, each.text) for each in run.chat.exchanges),
        )
        for event in self._asking.stream(question, who=run.key, stop=run.halted):
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
