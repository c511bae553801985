"""The page: Gradio components, and what happens when a person touches them. Nothing is public.

Every handler is private (no name in Gradio's API), and calls the parts beside this file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from indexing.errors import RagAppError
from rag_app.chat import conversation_store as keys
from rag_app.chat import export
from rag_app.chat.conversation import Chat, Exchange
from rag_app.chat.page import html as view
from rag_app.chat.page import other_views
from rag_app.chat.page.other_views import PRIVATE, html

if TYPE_CHECKING:
    from rag_app.chat.application import Application

FORMS = {"Markdown": "md", "JSON": "json"}  # in which a conversation is saved
LOOK = 0.06  # seconds between looks at an answer in the making
SLOW_LOOK = 0.4  # and at files on their way

Update = Any  # a component or its new value; Gradio has no type for it
Browser = dict[str, Any]  # what a browser keeps: its key, the open conversation, chosen documents


def build(app: Application) -> gr.Blocks:
    """The page of an application."""
    blocks: gr.Blocks = _Page(app).blocks
    return blocks


def head() -> str:
    """What goes into the head of the page: its style sheet and script."""
    return '<link rel="stylesheet" href="static/style.css"><script src="static/page.js"></script>'


def theme() -> gr.themes.Base:
    """Plain; `style.css` does the rest."""
    return gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


@dataclass(frozen=True)
class _Widgets:
    """The components that handlers write to."""

    browser: gr.BrowserState
    editing: gr.State
    chats: gr.HTML
    arrivals: gr.HTML
    documents: gr.HTML
    notice: gr.HTML
    history: gr.HTML
    live: gr.HTML
    hint: gr.HTML
    box: gr.Textbox
    mode: gr.Radio
    sources: gr.HTML
    download: gr.Textbox


class _Page:
    def __init__(self, app: Application) -> None:
        self.app = app
        with gr.Blocks(title="rag-app", analytics_enabled=False, fill_width=True) as self.blocks:
            browser = gr.BrowserState({}, storage_key="rag-app", secret="rag-app")  # noqa: S106
            with gr.Sidebar(width=320, elem_id="side"):
                new, chats, drop, arrivals, notice, documents = self._side()
            with gr.Tabs(elem_id="views"):
                with gr.Tab("Ask", id="ask"), gr.Row(elem_id="ask"):
                    with gr.Column(elem_id="talk", min_width=0):
                        history, live, hint, box, mode, saves, download = self._talk()
                    sources = html(elem_id="panel", acts=True)
                with gr.Tab("Search", id="search"):
                    other_views.search(app, browser)
                with gr.Tab("Evaluate", id="evaluate"):
                    other_views.evaluate(app, self.blocks)
            self.at = _Widgets(
                browser=browser,
                editing=gr.State(None),
                chats=chats,
                arrivals=arrivals,
                documents=documents,
                notice=notice,
                history=history,
                live=live,
                hint=hint,
                box=box,
                mode=mode,
                sources=sources,
                download=download,
            )
            self._wire(new, drop, saves)
        self.blocks.queue(default_concurrency_limit=None, api_open=False)

    # Layout

    def _side(self) -> tuple[gr.Button, gr.HTML, gr.HTML, gr.HTML, gr.HTML, gr.HTML]:
        html('<h1 class="brand">rag-app</h1>')
        new = gr.Button("New conversation", elem_id="new", size="sm")
        chats = html(acts=True, elem_id="chats")
        html('<h2 class="label">Documents</h2>')
        drop = html(view.dropzone(self.app.uploads.max_bytes), acts=True, elem_id="drop")
        arrivals = html(acts=True, elem_id="arrivals")
        notice = html(elem_id="notice")
        documents = html(acts=True, elem_id="documents")
        return new, chats, drop, arrivals, notice, documents

    def _talk(self) -> tuple[Any, ...]:
        history = html(acts=True, elem_id="history")
        live = html(acts=True, elem_id="live")
        with gr.Column(elem_id="composer", min_width=0):
            hint = html(elem_id="hint")
            box = gr.Textbox(
                placeholder="Ask your documents",
                show_label=False,
                label="Question",
                lines=1,
                max_lines=8,
                max_length=8000,
                container=False,
                submit_btn=True,
                elem_id="box",
            )
            with gr.Row(elem_id="choices"):
                mode = gr.Radio(
                    [("Verbatim quotes", "quote"), ("Generated answer", "free")],
                    value=self.app.answer,
                    show_label=False,
                    label="Answer with",
                    container=False,
                    elem_id="mode",
                )
                saves = [
                    gr.Button(f"Save as {name}", size="sm", elem_classes=["save", f"save-{form}"])
                    for name, form in FORMS.items()
                ]
        download = gr.Textbox(visible="hidden", elem_id="download")
        return history, live, hint, box, mode, saves, download

    # Wiring

    def _wire(self, new: gr.Button, drop: gr.HTML, saves: list[gr.Button]) -> None:
        at = self.at
        talk = [at.box, at.history, at.live, at.sources, at.chats, at.browser, at.editing, at.hint]
        docs = [at.arrivals, at.documents, at.notice]

        def on(event: Callable[..., Any], fn: Any, inputs: Any, outputs: Any, **more: Any) -> Any:  # noqa: ANN401
            return event(fn, inputs, outputs, **PRIVATE, **more)

        flow = talk[:5]
        loaded = on(self.blocks.load, self._load, [at.browser], [*talk, *docs])
        begun = [
            on(at.box.submit, self._ask, [at.box, at.mode, at.browser, at.editing], talk),
            on(at.history.again, self._again, [at.mode, at.browser], talk),
            on(at.history.check, self._check, [at.browser], talk),
            loaded,
        ]
        following = [on(each.then, self._follow, [at.browser], flow) for each in begun]
        on(at.box.stop, self._stop, [at.browser], None)
        on(at.history.revise, self._revise, [at.browser], [at.box, at.editing, at.hint])
        # Answers go on without a page that looks.
        opened = on(at.chats.open_chat, self._open, [at.browser], talk, cancels=following)
        on(opened.then, self._follow, [at.browser], flow)
        on(at.chats.forget_chat, self._forget, [at.browser], talk, cancels=following)
        on(new.click, self._new, [at.browser], talk, cancels=following)
        on(drop.arrived, self._watch, [at.browser], docs, trigger_mode="multiple")
        on(loaded.then, self._watch, [at.browser], docs)
        on(at.arrivals.clear_list, self._clear, [at.browser], docs)
        on(at.documents.choose, self._choose, [at.browser], [at.browser, at.documents])
        on(at.documents.remove_document, self._remove, [at.browser], [at.browser, *docs])
        for button, form in zip(saves, FORMS.values(), strict=True):
            saved = on(button.click, _Saving(self, form), [at.browser], at.download)
            saved.then(None, [at.download], None, js="(file) => ragApp.save(file)", **PRIVATE)

    # Conversations

    def _chat(self, browser: Browser) -> Chat:
        """The open conversation, or a new one."""
        id_ = browser.get("chat")
        kept = self.app.chats.get(browser["key"], id_) if isinstance(id_, str) and id_ else None
        return kept or Chat.new()

    def _load(self, browser: Browser | None) -> tuple[Update, ...]:
        kept = browser if isinstance(browser, dict) else {}
        if not keys.is_key(kept.get("key")):
            kept = {"key": keys.new_key()}
        try:
            chat = self._chat(kept)
        except RagAppError:
            kept, chat = {"key": kept["key"]}, Chat.new()
        return (*self._shown(kept, chat), *self._documents(kept))

    def _shown(self, browser: Browser, chat: Chat, **box: Any) -> tuple[Update, ...]:  # noqa: ANN401
        """The whole talk, as it is on disk, but what is being answered."""
        run = self.app.runs.of(chat)
        before = run.chat if run else chat
        return (
            gr.Textbox(submit_btn=run is None, stop_btn=run is not None, **box),
            view.conversation(before, begun=run is not None),
            view.live(run.exchange, len(before.exchanges)) if run else "",
            view.sources(self.app.corpus, before),
            view.chats(self.app.chats.all(browser["key"]), chat.id),
            {**browser, "chat": chat.id},
            None,
            "",
        )

    def _ask(
        self, question: str, mode: str, browser: Browser, editing: int | None
    ) -> tuple[Update, ...]:
        if not question.strip():
            return (gr.skip(),) * 8
        chat = self._chat(browser)
        before = chat if editing is None else chat.upto(editing)
        return self._begun(browser, before, question.strip(), mode, value="")

    def _again(self, mode: str, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        chat = self._chat(browser)
        number = _number(touched, len(chat.exchanges))
        return self._begun(browser, chat.upto(number), chat.exchanges[number].question, mode)

    def _begun(
        self,
        browser: Browser,
        before: Chat,
        question: str,
        mode: str,
        **box: Any,  # noqa: ANN401 - of a textbox
    ) -> tuple[Update, ...]:
        asked = Exchange(question, "free" if mode == "free" else "quote", self._chosen(browser))
        try:
            self.app.runs.start(browser["key"], before, asked)
        except RagAppError as error:
            return (*(gr.skip(),) * 7, view.notice(str(error), kind="error"))
        return self._shown(browser, before, **box)

    def _check(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        chat = self._chat(browser)
        try:
            self.app.runs.check(browser["key"], chat, _number(touched, len(chat.exchanges)))
        except RagAppError as error:
            return (*(gr.skip(),) * 7, view.notice(str(error), kind="error"))
        return self._shown(browser, chat)

    async def _follow(self, browser: Browser) -> AsyncIterator[tuple[Update, ...]]:
        """Show the answer that is being made in the open conversation, if one is.

        Never the browser's state: meanwhile somebody may have chosen other documents.
        """
        chat = await asyncio.to_thread(self._chat, browser)
        run = self.app.runs.of(chat)
        if run is None:  # there was none, or it is over already
            yield await asyncio.to_thread(lambda: self._shown(browser, chat)[:5])
            return
        seen, number = None, len(run.chat.exchanges)
        while not (exchange := run.exchange).over:
            if exchange is not seen:
                seen = exchange
                yield (gr.skip(), gr.skip(), view.live(exchange, number), gr.skip(), gr.skip())
            await asyncio.sleep(LOOK)
        yield await asyncio.to_thread(lambda: self._shown(browser, run.whole)[:5])

    def _stop(self, browser: Browser) -> None:
        self.app.runs.stop(self._chat(browser))

    def _revise(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        chat = self._chat(browser)
        number = _number(touched, len(chat.exchanges))
        left = len(chat.exchanges) - number
        lost = "" if left == 1 else f" and the {left - 1} after it" if left > 2 else " and the next"
        hint = view.notice(f"Sending this replaces question {number + 1}{lost}.")
        return chat.exchanges[number].question, number, hint

    def _open(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        opened = {**browser, "chat": str(_value(touched))}
        return self._shown(opened, self._chat(opened))

    def _forget(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        id_ = str(_value(touched))
        self.app.chats.forget(browser["key"], id_)
        left = {**browser, "chat": ""} if browser.get("chat") == id_ else browser
        return self._shown(left, self._chat(left))

    def _new(self, browser: Browser) -> tuple[Update, ...]:
        return self._shown(browser, Chat.new(), value="")

    # Documents

    def _chosen(self, browser: Browser) -> tuple[str, ...]:
        return self.app.shelf.chosen(browser.get("chosen"))

    def _documents(self, browser: Browser, said: str = "") -> tuple[Update, ...]:
        """Files on their way, the list of documents, and a notice."""
        return (
            view.arrivals(self.app.intake.arrivals),
            view.documents(self.app.shelf.entries(), self._chosen(browser)),
            said,
        )

    async def _watch(self, browser: Browser) -> AsyncIterator[tuple[Update, ...]]:
        """Show files on their way until all have arrived."""
        seen: tuple[Update, ...] = ()
        busy = True
        while busy:
            busy = self.app.intake.busy
            now = await asyncio.to_thread(self._documents, browser)
            yield tuple(
                each if number >= len(seen) or each != seen[number] else gr.skip()
                for number, each in enumerate(now)
            )
            seen = now
            if busy:
                await asyncio.sleep(SLOW_LOOK)

    def _clear(self, browser: Browser) -> tuple[Update, ...]:
        self.app.intake.clear()
        return self._documents(browser)

    def _choose(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        value = _value(touched)
        chosen = (
            [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
        )
        browser = {**browser, "chosen": chosen}
        return browser, view.documents(self.app.shelf.entries(), self._chosen(browser))

    def _remove(self, browser: Browser, touched: gr.EventData) -> tuple[Update, ...]:
        said = ""
        try:
            self.app.shelf.remove(str(_value(touched)))
        except RagAppError as error:
            said = view.notice(str(error), kind="error")
        return browser, *self._documents(browser, said)


class _Saving:
    """What a button that saves the conversation does."""

    def __init__(self, page: _Page, form: str) -> None:
        self._page, self._form = page, form

    def __call__(self, browser: Browser) -> str:
        chat = self._page._chat(browser)
        text = export.markdown(chat) if self._form == "md" else export.as_text(chat)
        return json.dumps({"name": f"conversation-{chat.id}.{self._form}", "text": text})


def _value(touched: gr.EventData) -> object:
    """What an element with `data-act` brought along."""
    data = touched._data
    return data.get("value") if isinstance(data, dict) else None


def _number(touched: gr.EventData, length: int) -> int:
    """Which exchange was touched."""
    value = str(_value(touched))
    if not value.isdecimal() or int(value) >= length:
        raise gr.Error("This conversation has changed; reload the page.")
    return int(value)
