"""The page: which handler an event of a component calls. None has a name in Gradio's API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import gradio as gr

from rag_app.chat.application import Application
from rag_app.chat.page import layout
from rag_app.chat.page.components import PRIVATE, saved
from rag_app.chat.page.layout import Layout
from rag_app.chat.page.talk_handlers import TalkHandlers

SCRIPTS = (
    "language", "events", "uploads", "lists", "page", "writer", "questions", "document_view",
    "welcome",
)  # fmt: skip
SHEETS = ("style", "narrow", "document_view", "welcome")
STYLE = "".join(f'<link rel="stylesheet" href="static/{name}.css">' for name in SHEETS)
"""For Gradio, whose own sheets come before."""

EACH: dict[str, Any] = {"trigger_mode": "multiple"}  # what is chosen before the last is answered


def build(app: Application) -> tuple[gr.Blocks, str]:
    """The page of an application, and what belongs into its head before anything of Gradio's."""
    with gr.Blocks(title="rag-app", analytics_enabled=False, fill_width=True) as blocks:
        order = _connect(blocks, layout.build(app, blocks), TalkHandlers(app))
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


def _connect(
    blocks: gr.Blocks, page: Layout, handlers: TalkHandlers
) -> Mapping[str, Sequence[int]]:
    """Connect the events of the components to their handlers.

    Returns:
        Numbers of events: the `turns` with which a person leaves what is shown of the talk; the
        `questions` asked in it and what `follows` by itself, which come too late after them.
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
    saved(exported, talk.download)
    rated = [talk.history, side.conversations, talk.hint]
    _on(talk.history.stop_telling, chats.stop_telling, [browser], rated)
    _on(talk.history.rate_up, chats.rate("up"), [browser], rated)
    _on(talk.history.rate_down, chats.rate("down"), [browser], rated)
    opened = _on(side.conversations.open_chat, handlers.open, [browser], whole, cancels=follows)
    forgotten = _on(
        side.conversations.forget_chat, handlers.delete, [browser], whole, cancels=follows
    )
    new = _on(side.new.click, handlers.new, [browser], whole, cancels=follows)
    turns = [opened, forgotten, new]
    follows = [*follows, follow(opened), follow(forgotten)]
    answering = handlers.answering
    _on(talk.writer.open_answering, answering.open, [browser], [talk.answering])
    for act, name in ((talk.answering.set_length, "length"), (talk.answering.set_form, "form")):
        _on(act, answering.keep(name), [browser], [browser], cancels=[refreshed], **EACH)
    for suffix, button in talk.save.items():
        saved(_on(button.click, handlers.save(suffix), [browser], talk.download), talk.download)
    _connect_documents(page, handlers, loaded=loaded, refreshed=refreshed)
    order = {"turns": turns, "questions": questions, "follows": follows}
    return {name: [event["id"] for event in events] for name, events in order.items()}


def _connect_documents(
    page: Layout,
    handlers: TalkHandlers,
    *,
    loaded: Any,  # noqa: ANN401 - of Gradio
    refreshed: Any,  # noqa: ANN401
) -> None:
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
