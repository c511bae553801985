"""The layout of the page: its components, without their behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from indexing.message import N_
from rag_app.chat.application import Application
from rag_app.chat.language.catalogue import LANGUAGES
from rag_app.chat.page import html as view
from rag_app.chat.page.components import html, in_each_language, label
from rag_app.chat.page.views.names import names
from rag_app.chat.page.views.register import register
from rag_app.chat.page.views.search import search
from rag_app.chat.request_limits import MAX_QUESTION

FORMATS = {"md": N_("Save as Markdown"), "json": N_("Save as JSON")}  # of a conversation


@dataclass(frozen=True)
class Sidebar:
    """Conversations and documents."""

    new: gr.Button
    conversations: gr.HTML
    drop: gr.HTML
    uploads: gr.HTML
    notice: gr.HTML
    collections: gr.HTML
    documents: gr.HTML
    overview: gr.HTML


@dataclass(frozen=True)
class Talk:
    """The open conversation, and the box for the next question."""

    history: gr.HTML
    live: gr.HTML
    hint: gr.HTML
    box: gr.Textbox
    mode: gr.Radio
    writer: gr.HTML
    answering: gr.HTML
    save: dict[str, gr.Button]  # by format
    download: gr.Textbox


@dataclass(frozen=True)
class Layout:
    """The components that handlers read and write."""

    browser: gr.BrowserState
    changes: gr.HTML
    editing: gr.State
    side: Sidebar
    talk: Talk
    sources: gr.HTML


def build(app: Application, blocks: gr.Blocks) -> Layout:
    """Build the page within `blocks`."""
    browser = gr.BrowserState({}, storage_key="rag-app", secret="rag-app")  # noqa: S106
    changes = html(acts=True, elem_id="changes")
    with gr.Sidebar(width=320, elem_id="side"):
        side = _sidebar(app.uploads.max_bytes)
    with gr.Tabs(elem_id="views"):
        with gr.Tab(label("Ask"), id="ask"), gr.Row(elem_id="ask"):
            with gr.Column(elem_id="talk", min_width=0):
                talk = _talk(app)
            sources = html(elem_id="panel", acts=True)
        with gr.Tab(label("Search"), id="search"):
            search(app, browser)
        with gr.Tab(label("Register"), id="register") as tab:
            register(app, tab, browser, talk.download)
        with gr.Tab(label("Names"), id="names") as tab:
            names(app, tab)
        if app.measurements:
            with gr.Tab(label("Evaluate"), id="evaluate"):
                app.measurements(app, blocks)
    return Layout(browser, changes, gr.State(None), side, talk, sources)


def _sidebar(max_bytes: int) -> Sidebar:
    html(in_each_language(lambda: view.render("brand.html", languages=LANGUAGES)))
    new = gr.Button(label("New conversation"), elem_id="new", size="sm")
    conversations = html(acts=True, elem_id="chats")
    html(in_each_language(lambda: view.render("documents_heading.html")))
    return Sidebar(
        new=new,
        conversations=conversations,
        drop=html(in_each_language(lambda: view.dropzone(max_bytes)), acts=True, elem_id="drop"),
        uploads=html(acts=True, elem_id="uploads"),
        notice=html(elem_id="notice"),
        collections=html(acts=True, elem_id="collections"),
        documents=html(acts=True, elem_id="documents"),
        overview=html(elem_id="overview"),
    )


def _talk(app: Application) -> Talk:
    history = html(acts=True, elem_id="history")
    live = html(acts=True, elem_id="live")
    with gr.Column(elem_id="composer", min_width=0):
        hint = html(acts=True, elem_id="hint")
        box = gr.Textbox(
            placeholder=label("Ask your documents"),
            show_label=False,
            label=label("Question"),
            lines=1,
            max_lines=8,
            max_length=MAX_QUESTION,
            container=False,
            submit_btn=True,
            elem_id="box",
        )
        with gr.Row(elem_id="choices"):
            mode = gr.Radio(
                [(label("Verbatim quotes"), "quote"), (label("Generated answer"), "free")],
                value=app.answer,
                show_label=False,
                label=label("Answer with"),
                container=False,
                elem_id="mode",
            )
            button = in_each_language(lambda: view.render("writer.html"))
            writer = html(button, acts=True, elem_id="writer")
            save = {
                suffix: gr.Button(label(name), size="sm", elem_classes=["save", f"save-{suffix}"])
                for suffix, name in FORMATS.items()
            }
    download = gr.Textbox(visible="hidden", elem_id="download")
    answering = html(acts=True, elem_id="answering")
    return Talk(history, live, hint, box, mode, writer, answering, save, download)
