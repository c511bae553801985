"""The page: what happens when a person uses its components. Nothing is public.

Every handler is private (no name in Gradio's API), and calls the modules of `rag_app.chat`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import gradio as gr

from indexing.errors import InvalidRequest, RagAppError
from rag_app.chat import conversation_store as keys
from rag_app.chat import export
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.page import html as view
from rag_app.chat.page import layout
from rag_app.chat.page.components import PRIVATE
from rag_app.chat.request_limits import MAX_QUESTION

if TYPE_CHECKING:
    from rag_app.chat.application import Application
    from rag_app.chat.page.layout import Layout

POLL_SECONDS = 0.06  # between looks at an answer in progress
UPLOAD_POLL_SECONDS = 0.4  # between looks at uploaded files in progress

Update = Any  # a component or its new value; Gradio has no type for it
Updates = tuple[Update, ...]
Browser = dict[str, Any]  # stored by a browser: "key", open "chat", and "chosen" document ids


def build(app: Application) -> gr.Blocks:
    """The page of an application."""
    with gr.Blocks(title="rag-app", analytics_enabled=False, fill_width=True) as blocks:
        _connect(blocks, layout.build(app, blocks), _Handlers(app))
    blocks.queue(default_concurrency_limit=None, api_open=False)
    page: gr.Blocks = blocks
    return page


def head() -> str:
    """The style sheet and scripts, for the head of the page."""
    scripts = "".join(f'<script src="static/{name}.js"></script>' for name in ("events", "page"))
    return f'<link rel="stylesheet" href="static/style.css">{scripts}'


def theme() -> gr.themes.Base:
    """A plain theme; `style.css` does the rest."""
    return gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _connect(blocks: gr.Blocks, page: Layout, handlers: _Handlers) -> None:
    """Connect the events of the components to their handlers."""
    browser, side, talk = page.browser, page.side, page.talk
    flow = [talk.box, talk.history, talk.live, page.sources, side.conversations]
    whole = [*flow, browser, page.editing, talk.hint]
    files = [side.uploads, side.documents, side.notice]

    def on(event: Callable[..., Any], fn: Any, inputs: Any, outputs: Any, **more: Any) -> Any:  # noqa: ANN401
        return event(fn, inputs, outputs, **PRIVATE, **more)

    loaded = on(blocks.load, handlers.load, [browser], [*whole, *files, page.changes])
    questions = [
        on(talk.box.submit, handlers.ask, [talk.box, talk.mode, browser, page.editing], whole),
        on(talk.history.again, handlers.ask_again, [talk.mode, browser], whole),
        on(talk.history.check, handlers.check, [browser], whole),
        loaded,
    ]
    follows = [on(each.then, handlers.follow, [browser], flow) for each in questions]
    # Cancelling what follows an answer does not stop the answer.
    refreshed = on(page.changes.refresh, handlers.refresh, [browser], [*flow, *files, page.changes])
    follows.append(refreshed)
    on(talk.box.stop, handlers.stop, [browser], None)
    on(talk.history.revise, handlers.revise, [browser], [talk.box, page.editing, talk.hint])
    opened = on(side.conversations.open_chat, handlers.open, [browser], whole, cancels=follows)
    on(opened.then, handlers.follow, [browser], flow)
    on(side.conversations.forget_chat, handlers.delete, [browser], whole, cancels=follows)
    on(side.new.click, handlers.new, [browser], whole, cancels=follows)
    on(side.drop.uploaded, handlers.watch, [browser], files, trigger_mode="multiple")
    on(loaded.then, handlers.watch, [browser], files)
    on(side.uploads.clear_list, handlers.clear, [browser], files)
    queue = handlers.app.ingest_queue
    for act, change in (
        (side.uploads.replace_upload, queue.replace),
        (side.uploads.keep_upload, queue.keep_both),
        (side.uploads.cancel_upload, queue.cancel),
        (side.uploads.retry_upload, queue.retry),
    ):
        changed = on(act, handlers.upload_change(change), [browser], files)
        on(changed.then, handlers.watch, [browser], files, trigger_mode="multiple")
    chosen = [browser, side.documents]
    on(side.documents.choose, handlers.select, [browser], chosen, cancels=[refreshed])
    removed = on(side.documents.remove_document, handlers.remove, [browser], [browser, *files])
    on(removed.then, handlers.sources, [browser], [page.sources])
    on(side.documents.overview, handlers.overview, None, [side.overview, side.notice])
    for suffix, button in talk.save.items():
        saved = on(button.click, handlers.save(suffix), [browser], talk.download)
        saved.then(None, [talk.download], None, js="(file) => ragApp.save(file)", **PRIVATE)


class _Handlers:
    """Event handlers; each returns new values for the components it is connected to."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def _own(self, browser: Browser | None, request: gr.Request) -> Browser:
        """What a browser has stored, with the key of whoever is logged in.

        Without logins its own key, or a new one where it has none, as before its first load event.
        """
        known = browser if isinstance(browser, dict) else {}
        key, user = known.get("key"), request.username
        if user is None:
            return known if keys.is_key(key) else {"key": keys.new_key()}
        if isinstance(key, str) and keys.is_key(key):  # from before there were logins
            self.app.conversations.take_over(key, keys.login_key(user))
        return {**known, "key": keys.login_key(user)}

    # Conversations

    def _conversation(self, browser: Browser) -> Conversation:
        """The open conversation, or a new one."""
        id_ = browser.get("chat")
        if isinstance(id_, str) and id_:
            return self.app.conversations.get(browser["key"], id_) or Conversation.new()
        return Conversation.new()

    def load(self, browser: Browser | None, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        changes = self._changes(browser)
        try:
            conversation = self._conversation(browser)
        except RagAppError:
            browser, conversation = {"key": browser["key"]}, Conversation.new()
        return (*self._talk(browser, conversation), *self._files(browser), changes)

    def _changes(self, browser: Browser) -> str:
        """The mark of what is shown next; taken before it is read, so that nothing is missed."""
        chats = self.app.conversations.name(browser["key"])
        return view.changes(self.app.changes.mark(chats), chats)

    async def refresh(self, browser: Browser, request: gr.Request) -> AsyncIterator[Updates]:
        """What may have changed elsewhere; then the answer that is asked for in another window."""
        browser = self._own(browser, request)

        def now() -> Updates:
            changes = self._changes(browser)
            talk = self._talk(browser, self._conversation(browser))
            return (*talk[:5], *self._files(browser)[:2], gr.skip(), changes)

        yield await asyncio.to_thread(now)
        if self.app.jobs.of(await asyncio.to_thread(self._conversation, browser)) is not None:
            async for flow in self.follow(browser, request):
                yield (*flow, *(gr.skip(),) * 4)

    def _talk(self, browser: Browser, conversation: Conversation, **box: Any) -> Updates:  # noqa: ANN401
        """The whole talk: as it is stored, and the answer in progress."""
        job = self.app.jobs.of(conversation)
        before = job.conversation if job else conversation
        return (
            gr.Textbox(submit_btn=job is None, stop_btn=job is not None, **box),
            view.conversation(before, busy=job is not None),
            view.live(job.exchange, len(before.exchanges)) if job else "",
            view.sources(self.app.corpus, before),
            view.conversations(self.app.conversations.all(browser["key"]), conversation.id),
            {**browser, "chat": conversation.id},
            None,
            "",
        )

    def ask(
        self,
        question: str,
        mode: str,
        browser: Browser,
        editing: int | None,
        request: gr.Request,
    ) -> Updates:
        if not question.strip():
            return (gr.skip(),) * 8
        if len(question) > MAX_QUESTION:  # which the box of the page does not allow
            return _only_hint(InvalidRequest(f"a question has at most {MAX_QUESTION:,} characters"))
        browser = self._own(browser, request)
        conversation = self._conversation(browser)
        before = conversation if editing is None else conversation.upto(editing)
        return self._start(browser, before, question.strip(), mode, value="")

    def ask_again(
        self, mode: str, browser: Browser, event: gr.EventData, request: gr.Request
    ) -> Updates:
        browser = self._own(browser, request)
        conversation = self._conversation(browser)
        number = _number(event, len(conversation.exchanges))
        question = conversation.exchanges[number].question
        return self._start(browser, conversation.upto(number), question, mode)

    def _start(
        self,
        browser: Browser,
        before: Conversation,
        question: str,
        mode: str,
        **box: Any,  # noqa: ANN401 - of a textbox
    ) -> Updates:
        exchange = Exchange(
            question, "free" if mode == "free" else "quote", self._selection(browser)
        )
        try:
            self.app.jobs.start(browser["key"], before, exchange)
        except RagAppError as error:
            return _only_hint(error)
        return self._talk(browser, before, **box)

    def check(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        conversation = self._conversation(browser)
        number = _number(event, len(conversation.exchanges))
        try:
            self.app.jobs.check(browser["key"], conversation, number)
        except RagAppError as error:
            return _only_hint(error)
        return self._talk(browser, conversation)

    async def follow(self, browser: Browser, request: gr.Request) -> AsyncIterator[Updates]:
        """Show the answer in progress in the open conversation, if there is one.

        Never writes the browser's state: other documents may have been selected meanwhile.
        """
        browser = self._own(browser, request)
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
        self.app.jobs.stop(self._conversation(self._own(browser, request)))

    def revise(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        conversation = self._conversation(browser)
        number = _number(event, len(conversation.exchanges))
        later = len(conversation.exchanges) - number - 1
        others = (
            "" if later == 0 else " and the next" if later == 1 else f" and the {later} after it"
        )
        hint = view.notice(f"Sending this replaces question {number + 1}{others}.")
        return conversation.exchanges[number].question, number, hint

    def open(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        browser = {**browser, "chat": str(_value(event))}
        return self._talk(browser, self._conversation(browser))

    def delete(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        id_ = str(_value(event))
        self.app.jobs.delete(browser["key"], id_)
        if browser.get("chat") == id_:
            browser = {**browser, "chat": ""}
        return self._talk(browser, self._conversation(browser))

    def new(self, browser: Browser, request: gr.Request) -> Updates:
        return self._talk(self._own(browser, request), Conversation.new(), value="")

    def save(self, suffix: str) -> Callable[..., str]:
        """A handler that returns the file that the browser saves, as JSON with its name."""
        write = export.markdown if suffix == "md" else export.as_text

        def handle(browser: Browser, request: gr.Request) -> str:
            conversation = self._conversation(self._own(browser, request))
            name = f"conversation-{conversation.id}.{suffix}"
            return json.dumps({"name": name, "text": write(conversation)})

        return handle

    # Documents

    def _selection(self, browser: Browser) -> tuple[str, ...]:
        return self.app.document_list.select(browser.get("chosen"))

    def _files(self, browser: Browser, notice: str = "") -> Updates:
        """Uploaded files, the list of documents, and a notice."""
        return (
            view.uploads(self.app.ingest_queue.uploads),
            view.documents(self.app.document_list.entries(), self._selection(browser)),
            notice,
        )

    async def watch(self, browser: Browser) -> AsyncIterator[Updates]:
        """Show uploaded files until all are indexed."""
        before: Updates = ()
        busy = True
        while busy:
            busy = self.app.ingest_queue.busy
            now = await asyncio.to_thread(self._files, browser)
            yield tuple(
                each if number >= len(before) or each != before[number] else gr.skip()
                for number, each in enumerate(now)
            )
            before = now
            if busy:
                await asyncio.sleep(UPLOAD_POLL_SECONDS)

    def upload_change(self, change: Callable[[str], None]) -> Callable[..., Updates]:
        """A handler that does something with the upload that an event is about."""

        def handle(browser: Browser, event: gr.EventData) -> Updates:
            change(str(_value(event)))
            return self._files(browser)

        return handle

    def clear(self, browser: Browser) -> Updates:
        self.app.ingest_queue.clear()
        return self._files(browser)

    def select(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        value = _value(event)
        ids = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
        browser = {**browser, "chosen": ids}
        entries = self.app.document_list.entries()
        return browser, view.documents(entries, self._selection(browser))

    def overview(self, event: gr.EventData) -> Updates:
        try:
            return view.overview(self.app.corpus.overview(str(_value(event)))), ""
        except RagAppError as error:
            return gr.skip(), view.notice(str(error), kind="error")

    def remove(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = self._own(browser, request)
        notice = ""
        try:
            self.app.document_list.remove(str(_value(event)))
        except RagAppError as error:
            notice = view.notice(str(error), kind="error")
        return browser, *self._files(browser, notice)

    def sources(self, browser: Browser, request: gr.Request) -> str:
        """The sources of the open conversation as they are now: documents may be gone."""
        browser = self._own(browser, request)
        conversation = self._conversation(browser)
        job = self.app.jobs.of(conversation)
        return view.sources(self.app.corpus, job.conversation if job else conversation)


def _only_hint(error: RagAppError) -> Updates:
    """The talk unchanged, with an error below it."""
    return (*(gr.skip(),) * 7, view.notice(str(error), kind="error"))


def _value(event: gr.EventData) -> object:
    """The value that an element with `data-act` sent."""
    data = event._data
    return data.get("value") if isinstance(data, dict) else None


def _number(event: gr.EventData, length: int) -> int:
    """The number of the exchange that an event is about."""
    value = str(_value(event))
    if not value.isdecimal() or int(value) >= length:
        raise gr.Error("This conversation has changed; reload the page.")
    return int(value)
