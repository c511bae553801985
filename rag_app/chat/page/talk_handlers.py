"""What happens when a person asks, or opens, edits, checks or saves a conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import gradio as gr

from generator.answer import ReadAs
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Scope
from indexing.message import N_
from rag_app.chat.application import Application
from rag_app.chat.changes import mark
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.language.current import count, gettext, ngettext, speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import export
from rag_app.chat.page import html as view
from rag_app.chat.page.answering import AnsweringHandlers, requested_shape
from rag_app.chat.page.browser_state import Browser, Updates, own, value_of
from rag_app.chat.page.conversation_handlers import ConversationHandlers
from rag_app.chat.page.document_handlers import DocumentHandlers
from rag_app.chat.queues.answer_jobs import WAITING
from rag_app.chat.request_limits import MAX_QUESTION
from rag_app.chat.welcome.samples import samples
from rag_app.corpus.reader import CorpusReader

NO_DOCUMENTS = N_("There are no documents yet: add some files, or the samples, then ask again.")
POLL_SECONDS = 0.06  # between looks at an answer in progress


class TalkHandlers:
    """Event handlers; each returns new values for the components it is connected to."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self.documents = DocumentHandlers(app)
        self.answering = AnsweringHandlers(app)
        self.chats = ConversationHandlers(app)

    def _conversation(self, browser: Browser) -> Conversation:
        """The open conversation, or a new one."""
        id_ = browser.get("chat")
        if isinstance(id_, str) and id_:
            return self.app.conversations.get(browser["key"], id_) or Conversation.new()
        return Conversation.new()

    def load(self, browser: Browser | None, request: gr.Request) -> Updates:
        """All that the page shows when it is opened."""
        browser = own(self.app, browser, request)
        changes = self._changes(browser)
        try:
            conversation = self._conversation(browser)
        except RagAppError:
            browser, conversation = {**browser, "chat": ""}, Conversation.new()
        return (*self._talk(browser, conversation), *self.documents.files(browser), changes)

    def _changes(self, browser: Browser) -> str:
        """The mark of what is shown next; taken before it is read, so that nothing is missed.

        What is new for standing questions is looked for: once told, it changes the mark.
        """
        chats = self.app.conversations.name(browser["key"])
        latest = mark(self.app, chats, browser["person"])
        self.app.tellings.look(browser["key"], Scope(browser["person"]))
        return view.render(
            "changes.html",
            mark=latest,
            chats=chats,
            model=self.app.models.current,
            loading=self.app.readiness.is_loading,
        )

    async def refresh(self, browser: Browser, request: gr.Request) -> AsyncIterator[Updates]:
        """What may have changed elsewhere; then the answer that is asked for in another window."""
        speak_to(request.headers)
        browser = await asyncio.to_thread(own, self.app, browser, request)

        def now() -> Updates:
            changes = self._changes(browser)
            talk = self._talk(browser, self._conversation(browser))
            return (*talk[:5], *self.documents.files(browser)[:-1], gr.skip(), changes)

        yield await asyncio.to_thread(now)
        if self.app.jobs.of(await asyncio.to_thread(self._conversation, browser)) is not None:
            async for flow in self.follow(browser, request):
                yield (*flow, *(gr.skip(),) * 5)

    def _talk(self, browser: Browser, conversation: Conversation, **box: Any) -> Updates:  # noqa: ANN401
        """The whole talk: as it is stored, and the answer in progress."""
        job = self.app.jobs.of(conversation)
        before = job.conversation if job else conversation
        return (
            gr.Textbox(submit_btn=job is None, stop_btn=job is not None, **box),
            self._history(browser, before, busy=job is not None),
            view.live(job.exchange, len(before.exchanges)) if job else "",
            view.sources(
                self._seen(browser), before, asking=job is not None and job.number is None
            ),
            view.conversations(self.app.conversations.all(browser["key"]), conversation.id),
            {**browser, "chat": conversation.id},
            None,
            "",
        )

    def _history(self, browser: Browser, before: Conversation, *, busy: bool) -> str:
        """The complete exchanges; before the first, what there is to be asked about."""
        if before.exchanges or busy:
            return view.conversation(before, busy=busy, checks=self.app.measurements is not None)
        return view.welcome(
            self.documents.latest(browser["person"]),
            self.app.suggestions.of(browser["person"]),
            samples=bool(samples()),
        )

    def ask(
        self, question: str, mode: str, browser: Browser, editing: int | None, request: gr.Request
    ) -> Updates:
        """Ask what is in the box, or ask it in the place of an earlier question."""
        if not question.strip():
            return (gr.skip(),) * 8
        browser = own(self.app, browser, request)
        if len(question) > MAX_QUESTION:  # which the box of the page does not allow
            return _only_hint(
                InvalidRequest(
                    N_("a question has at most %(number)s characters", number=f"{MAX_QUESTION:,}")
                )
            )
        conversation = self._conversation(browser)
        return self._start(browser, conversation, question.strip(), mode, editing, value="")

    def ask_again(self, read_as: ReadAs | None = None) -> Callable[..., Updates]:
        """A handler that asks a question again: as before, or looked up in all documents."""

        def handle(
            mode: str, browser: Browser, event: gr.EventData, request: gr.Request
        ) -> Updates:
            browser = own(self.app, browser, request)
            conversation = self._conversation(browser)
            number = _number(event, len(conversation.exchanges))
            asked = conversation.exchanges[number]
            how = read_as or asked.read_as
            return self._start(browser, conversation, asked.question, mode, number, read_as=how)

        return handle

    def _start(  # noqa: PLR0913 - what a question is, and where
        self,
        browser: Browser,
        conversation: Conversation,
        question: str,
        mode: str,
        replaces: int | None,
        *,
        read_as: ReadAs = "auto",
        **box: Any,  # noqa: ANN401 - of a textbox
    ) -> Updates:
        if self.app.document_list.is_empty(browser["person"]):
            return _only_hint(InvalidRequest(gettext(NO_DOCUMENTS)))
        exchange = Exchange(
            question,
            "free" if mode == "free" else "quote",
            self.documents.selection(browser),
            collections=self.documents.collections(browser),
            read_as=read_as,
            **requested_shape(browser),
        )
        try:
            scope = Scope(browser["person"])
            job = self.app.jobs.start(
                browser["key"], conversation, exchange, scope, replaces=replaces
            )
        except RagAppError as error:
            return _only_hint(error)
        return self._talk(browser, job.conversation, **box)

    def check(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Check whether an answer changes with the order of its evidence."""
        browser = own(self.app, browser, request)
        conversation = self._conversation(browser)
        number = _number(event, len(conversation.exchanges))
        try:
            scope = Scope(browser["person"])
            self.app.jobs.check(browser["key"], conversation, number, scope)
        except RagAppError as error:
            return _only_hint(error)
        return self._talk(browser, conversation)

    async def follow(self, browser: Browser, request: gr.Request) -> AsyncIterator[Updates]:
        """Show the answer in progress in the open conversation, if there is one.

        Never writes the browser's state: other documents may have been selected meanwhile.
        """
        speak_to(request.headers)
        browser = await asyncio.to_thread(own, self.app, browser, request)
        conversation = await asyncio.to_thread(self._conversation, browser)
        job = self.app.jobs.of(conversation)
        if job is None:  # there was none, or it is over already
            yield await asyncio.to_thread(lambda: self._talk(browser, conversation)[:5])
            return
        last, number = None, len(job.conversation.exchanges)
        while not (exchange := job.exchange).over:
            if exchange is not last:
                last = exchange
                yield (gr.skip(), gr.skip(), view.live(exchange, number), gr.skip(), gr.skip())
            await asyncio.sleep(POLL_SECONDS)
        conversation = Conversation.new() if job.deleted else job.result(exchange)
        yield await asyncio.to_thread(lambda: self._talk(browser, conversation)[:5])

    def stop(self, browser: Browser, request: gr.Request) -> None:
        """End the answer in progress early."""
        self.app.jobs.stop(self._conversation(own(self.app, browser, request)))

    def revise(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Put a question back into the box, to be asked in other words."""
        browser = own(self.app, browser, request)
        conversation = self._conversation(browser)
        number = _number(event, len(conversation.exchanges))
        later = len(conversation.exchanges) - number - 1
        replaced = {"number": count(number + 1)}
        hint = gettext("Sending this replaces question %(number)s.", **replaced)
        if later:
            hint = ngettext(
                "Sending this replaces question %(number)s and the next.",
                "Sending this replaces question %(number)s and the %(num)s after it.",
                later,
                **replaced,
            )
        return (
            conversation.exchanges[number].question,
            number,
            view.render("editing.html", text=hint),
        )

    def open(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Show a conversation."""
        browser = own(self.app, browser, request)
        browser = {**browser, "chat": str(value_of(event))}
        return self._talk(browser, self._conversation(browser))

    def delete(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Delete a conversation, and its answer in progress."""
        browser = own(self.app, browser, request)
        id_ = str(value_of(event))
        self.app.tellings.delete(browser["key"], id_)
        if browser.get("chat") == id_:
            browser = {**browser, "chat": ""}
        return self._talk(browser, self._conversation(browser))

    def new(self, browser: Browser, request: gr.Request) -> Updates:
        """Show a new conversation."""
        return self._talk(own(self.app, browser, request), Conversation.new(), value="")

    def save(self, suffix: str) -> Callable[..., str]:
        """A handler that returns the file that the browser saves, as JSON with its name."""
        write = export.markdown if suffix == "md" else export.as_text

        def handle(browser: Browser, request: gr.Request) -> str:
            conversation = self._conversation(own(self.app, browser, request))
            name = f"conversation-{conversation.id}.{suffix}"
            return json.dumps({"name": name, "text": write(conversation)})

        return handle

    def sources(self, browser: Browser, request: gr.Request) -> str:
        """The sources of the open conversation as they are now: documents may be gone."""
        browser = own(self.app, browser, request)
        conversation = self._conversation(browser)
        job = self.app.jobs.of(conversation)
        shown = job.conversation if job else conversation
        return view.sources(self._seen(browser), shown)

    def _seen(self, browser: Browser) -> CorpusReader:
        """The corpus as whoever asks sees it."""
        return self.app.corpus.seen_by(Scope(browser["person"]))


def _only_hint(error: RagAppError) -> Updates:
    """The talk unchanged, with an error below it."""
    if str(error) == WAITING:  # it is so for as long as the answer is on its way
        return (*(gr.skip(),) * 7, view.notice(translated(WAITING), kind="busy"))
    return (*(gr.skip(),) * 7, view.failure(error))


def _number(event: gr.EventData, length: int) -> int:
    """The number of the exchange that an event is about."""
    value = str(value_of(event))
    if not value.isdecimal() or int(value) >= length:
        raise gr.Error(gettext("This conversation has changed; reload the page."))
    return int(value)
