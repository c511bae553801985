"""The page: what happens when a person uses its components. Nothing is public.

Every handler is private (no name in Gradio's API), and calls the modules of `rag_app.chat`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import gradio as gr

from generator.answer import ReadAs
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Scope
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.language.current import count, gettext, ngettext, speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.language.later import N_
from rag_app.chat.page import export, layout
from rag_app.chat.page import html as view
from rag_app.chat.page.answering import AnsweringHandlers, requested_form, requested_length
from rag_app.chat.page.browser_state import Browser, Updates, own, value_of
from rag_app.chat.page.components import PRIVATE
from rag_app.chat.page.conversation_handlers import ConversationHandlers
from rag_app.chat.page.document_handlers import DocumentHandlers
from rag_app.chat.queues.answer_jobs import WAITING
from rag_app.chat.request_limits import MAX_QUESTION
from rag_app.chat.welcome.samples import samples

if TYPE_CHECKING:
    from rag_app.chat.application import Application
    from rag_app.chat.page.layout import Layout
    from rag_app.corpus.corpus import Corpus

SCRIPTS = (
    "language", "events", "uploads", "page", "writer", "questions", "document_view", "welcome",
)  # fmt: skip
SHEETS = ("style", "narrow", "document_view", "welcome")
STYLE = "".join(f'<link rel="stylesheet" href="static/{name}.css">' for name in SHEETS)
"""For Gradio, whose own sheets come before."""

NO_DOCUMENTS = N_("There are no documents yet: add some files, or the samples, then ask again.")
POLL_SECONDS = 0.06  # between looks at an answer in progress
EACH: dict[str, Any] = {"trigger_mode": "multiple"}  # what is chosen before the last is answered


def build(app: Application) -> tuple[gr.Blocks, str]:
    """The page of an application, and what belongs into its head before anything of Gradio's."""
    with gr.Blocks(title="rag-app", analytics_enabled=False, fill_width=True) as blocks:
        order = _connect(blocks, layout.build(app, blocks), _Handlers(app))
    blocks.queue(default_concurrency_limit=None, api_open=False)
    return blocks, _head(order)


def _head(order: Mapping[str, Sequence[int]]) -> str:
    """The scripts, and the order of events for them."""
    meta = f'<meta name="rag-app-events" content="{escape(json.dumps(order))}">'
    return meta + "".join(f'<script src="static/{name}.js"></script>' for name in SCRIPTS)


def theme() -> gr.themes.Base:
    """A plain theme; `style.css` does the rest."""
    return gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _connect(blocks: gr.Blocks, page: Layout, handlers: _Handlers) -> Mapping[str, Sequence[int]]:
    """Connect the events of the components to their handlers.

    Returns:
        Numbers of events: the `turns` with which a person leaves what is shown of the talk, and
        what `shows` it, which comes too late after them.
    """
    browser, side, talk = page.browser, page.side, page.talk
    flow = [talk.box, talk.history, talk.live, page.sources, side.conversations]
    whole = [*flow, browser, page.editing, talk.hint]
    files = [side.uploads, side.collections, side.documents, side.notice]
    loaded = _on(blocks.load, handlers.load, [browser], [*whole, *files, page.changes])
    questions = [
        _on(talk.box.submit, handlers.ask, [talk.box, talk.mode, browser, page.editing], whole),
        _on(talk.history.again, handlers.ask_again(), [talk.mode, browser], whole),
        _on(talk.history.everywhere, handlers.ask_again("question"), [talk.mode, browser], whole),
        _on(talk.history.check, handlers.check, [browser], whole),
        loaded,
    ]

    def follow(event: Any) -> Any:  # noqa: ANN401 - of Gradio
        multiple = {"trigger_mode": "multiple"}  # although one before it has not ended
        return _on(event.then, handlers.follow, [browser], flow, **multiple)

    follows = [follow(each) for each in questions]
    # Cancelling what follows an answer does not stop the answer.
    refreshed = _on(
        page.changes.refresh, handlers.refresh, [browser], [*flow, *files, page.changes]
    )
    follows.append(refreshed)
    _on(talk.box.stop, handlers.stop, [browser], None)
    _on(talk.history.revise, handlers.revise, [browser], [talk.box, page.editing, talk.hint])
    _on(talk.hint.cancel_edit, lambda: ("", None, ""), None, [talk.box, page.editing, talk.hint])
    chats = handlers.chats
    _on(side.conversations.rename_chat, chats.rename, [browser], [side.conversations, side.notice])
    _on(side.conversations.pin_chat, chats.pin, [browser], [side.conversations, side.notice])
    exported = _on(side.conversations.export_ratings, chats.ratings, [browser], talk.download)
    exported.then(None, [talk.download], None, js="(file) => ragApp.save(file)", **PRIVATE)
    rated = [talk.history, side.conversations, talk.hint]
    _on(talk.history.rate_up, chats.rate("up"), [browser], rated)
    _on(talk.history.rate_down, chats.rate("down"), [browser], rated)
    opened = _on(side.conversations.open_chat, handlers.open, [browser], whole, cancels=follows)
    forgotten = _on(
        side.conversations.forget_chat, handlers.delete, [browser], whole, cancels=follows
    )
    new = _on(side.new.click, handlers.new, [browser], whole, cancels=follows)
    turns = [opened, forgotten, new]
    shows = [*questions, *follows, follow(opened), follow(forgotten)]
    answering = handlers.answering
    _on(talk.writer.open_answering, answering.open, [browser], [talk.answering])
    for act, name in ((talk.answering.set_length, "length"), (talk.answering.set_form, "form")):
        _on(act, answering.keep(name), [browser], [browser], cancels=[refreshed], **EACH)
    for suffix, button in talk.save.items():
        saved = _on(button.click, handlers.save(suffix), [browser], talk.download)
        saved.then(None, [talk.download], None, js="(file) => ragApp.save(file)", **PRIVATE)
    _connect_documents(page, handlers, loaded=loaded, refreshed=refreshed)
    order = {"turns": turns, "shows": shows}
    return {name: [event["id"] for event in events] for name, events in order.items()}


def _connect_documents(page: Layout, handlers: _Handlers, *, loaded: Any, refreshed: Any) -> None:  # noqa: ANN401 - of Gradio
    """Connect the events of the documents to their handlers, once the page has loaded."""
    browser, side, talk, documents = page.browser, page.side, page.talk, handlers.documents
    lists = [side.collections, side.documents]
    files = [side.uploads, *lists, side.notice]
    sampled = _on(talk.history.add_samples, documents.add_samples, [browser], files)
    _on(sampled.then, documents.watch, [browser], files, trigger_mode="multiple")
    _on(talk.history.overview, documents.overview, None, [side.overview, side.notice])
    _on(side.drop.uploaded, documents.watch, [browser], files, trigger_mode="multiple")
    _on(loaded.then, documents.watch, [browser], files)
    _on(side.uploads.clear_list, documents.clear, [browser], files)
    queue = handlers.app.ingest_queue
    for act, change in (
        (side.uploads.replace_upload, queue.replace),
        (side.uploads.keep_upload, queue.keep_both),
        (side.uploads.cancel_upload, queue.cancel),
        (side.uploads.retry_upload, queue.retry),
    ):
        changed = _on(act, documents.upload_change(change), [browser], files)
        _on(changed.then, documents.watch, [browser], files, trigger_mode="multiple")
    for act, name in (
        (side.documents.choose, "chosen"),
        (side.collections.choose_collections, "collections"),
    ):
        shown = [browser, *lists]
        _on(act, documents.select(name), [browser], shown, cancels=[refreshed], **EACH)
    _on(side.collections.make_collection, documents.collect, [browser], files)
    for act, shared in (
        (side.collections.share_collection, True),
        (side.collections.unshare_collection, False),
    ):
        _on(act, documents.share(shared), [browser], files)
    _on(side.documents.weigh_removal, documents.weigh_removal, [browser], [side.notice])
    removed = _on(side.documents.remove_document, documents.remove, [browser], [browser, *files])
    _on(removed.then, handlers.sources, [browser], [page.sources])
    _on(side.documents.overview, documents.overview, None, [side.overview, side.notice])


def _on(event: Callable[..., Any], fn: Any, inputs: Any, outputs: Any, **more: Any) -> Any:  # noqa: ANN401 - of Gradio
    """Connect an event that no other program sees."""
    return event(fn, inputs, outputs, **PRIVATE, **more)


class _Handlers:
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
        browser = own(self.app, browser, request)
        changes = self._changes(browser)
        try:
            conversation = self._conversation(browser)
        except RagAppError:
            browser, conversation = {**browser, "chat": ""}, Conversation.new()
        return (*self._talk(browser, conversation), *self.documents.files(browser), changes)

    def _changes(self, browser: Browser) -> str:
        """The mark of what is shown next; taken before it is read, so that nothing is missed."""
        chats = self.app.conversations.name(browser["key"])
        mark = self.app.changes.mark(chats, browser["person"])
        loading = self.app.readiness.is_loading
        return view.changes(mark, chats, self.app.models.current, loading=loading)

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
                self._seen(browser),
                before,
                asking=job is not None and job.number is None,
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
        self,
        question: str,
        mode: str,
        browser: Browser,
        editing: int | None,
        request: gr.Request,
    ) -> Updates:
        if not question.strip():
            return (gr.skip(),) * 8
        browser = own(self.app, browser, request)
        if len(question) > MAX_QUESTION:  # which the box of the page does not allow
            return _only_hint(InvalidRequest(f"a question has at most {MAX_QUESTION:,} characters"))
        conversation = self._conversation(browser)
        before = conversation if editing is None else conversation.upto(editing)
        return self._start(browser, before, question.strip(), mode, value="")

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
            return self._start(
                browser, conversation.upto(number), asked.question, mode, read_as=how
            )

        return handle

    def _start(
        self,
        browser: Browser,
        before: Conversation,
        question: str,
        mode: str,
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
            length=requested_length(browser),
            form=requested_form(browser),
            read_as=read_as,
        )
        try:
            self.app.jobs.start(browser["key"], before, exchange, Scope(browser["person"]))
        except RagAppError as error:
            return _only_hint(error)
        return self._talk(browser, before, **box)

    def check(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
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
        self.app.jobs.stop(self._conversation(own(self.app, browser, request)))

    def revise(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
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
        return conversation.exchanges[number].question, number, view.editing(hint)

    def open(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = own(self.app, browser, request)
        browser = {**browser, "chat": str(value_of(event))}
        return self._talk(browser, self._conversation(browser))

    def delete(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        browser = own(self.app, browser, request)
        id_ = str(value_of(event))
        self.app.jobs.delete(browser["key"], id_)
        if browser.get("chat") == id_:
            browser = {**browser, "chat": ""}
        return self._talk(browser, self._conversation(browser))

    def new(self, browser: Browser, request: gr.Request) -> Updates:
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

    def _seen(self, browser: Browser) -> Corpus:
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
