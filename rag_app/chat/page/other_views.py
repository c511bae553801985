"""The views beside the conversation: search, and evaluation."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from indexing.errors import RagAppError
from indexing.filter import Filter
from rag_app.chat.page import html as view
from rag_app.chat.page.measurements import LENGTHS, MOST, Asked, Measuring, needles, positions

if TYPE_CHECKING:
    from rag_app.chat.application import Application

# What elements with `data-act` set off; Gradio wants each name in the code that sets it off.
ACTS = (
    "again",
    "check",
    "revise",
    "open_chat",
    "forget_chat",
    "choose",
    "remove_document",
    "clear_list",
)
ON_LOAD = f"ragApp.acts(element, trigger, {json.dumps([*ACTS, 'arrived'])})"

# No handler has a name in Gradio's API, and none waits for another.
PRIVATE: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_limit": None,
}


def html(value: str = "", *, elem_id: str | None = None, acts: bool = False) -> gr.HTML:
    """A place for HTML of ours."""
    on_load = ON_LOAD if acts else None
    return gr.HTML(value, elem_id=elem_id, js_on_load=on_load, apply_default_css=False)


def search(app: Application, browser: gr.BrowserState) -> None:
    """Documents and passages for a query, with filters."""
    with gr.Column(elem_classes="sheet"):
        query = gr.Textbox(
            label="Search",
            placeholder="A question, a name, a description of any length",
            lines=1,
            max_lines=4,
            max_length=8000,
            show_label=False,
            container=False,
            submit_btn=True,
            elem_id="query",
            elem_classes="asked",
        )
        with gr.Row(elem_classes="filters"):
            speaker = gr.Textbox(label="Speaker", placeholder="anyone", max_length=200)
            pattern = gr.Textbox(label="File", placeholder="*.vtt", max_length=400)
            many = gr.Number(5, label="Documents", minimum=1, maximum=50, precision=0)
            each = gr.Number(2, label="Passages per document", minimum=1, maximum=20, precision=0)
        results = html(elem_id="results")

    def found(  # noqa: PLR0913, PLR0917 - one for each field
        query: str, speaker: str, pattern: str, many: int, each: int, browser: dict[str, Any]
    ) -> str:
        chosen = app.shelf.chosen(browser.get("chosen"))
        where = Filter(chosen, pattern.strip() or None, speaker.strip() or None)
        try:
            hits = app.corpus.search(query, k=many, passages=each, where=where)
            return view.hits(app.corpus, hits)
        except RagAppError as error:
            return view.notice(str(error), kind="error")

    fields = [query, speaker, pattern, many, each, browser]
    for submitted in (query.submit, speaker.submit, pattern.submit, many.submit, each.submit):
        submitted(found, fields, results, **PRIVATE)


def evaluate(app: Application, blocks: gr.Blocks) -> None:
    """Needle test on the corpus, and accuracy of the language model by position."""
    turn = threading.Lock()
    with gr.Column(elem_classes="sheet"):
        for panel in (_needles, _places):
            measuring = Measuring(turn)
            results = panel(app, measuring)
            blocks.load(measuring.shown, None, results, **PRIVATE)


def _needles(app: Application, measuring: Measuring) -> gr.HTML:
    html(view.intro("needles"))
    with gr.Row(elem_classes="filters"):
        each = gr.Number(2, label="Facts per depth and length", minimum=1, maximum=8, precision=0)
        methods = gr.CheckboxGroup(
            [("parallel context windows (pcw)", "pcw"), ("truncated to one window", "none")],
            value=["pcw"],
            label="How documents are encoded",
        )
    start = gr.Button("Measure", variant="primary", elem_classes="measure")
    results = html(elem_id="measured")

    async def measured(each: int, methods: list[str]) -> AsyncIterator[str]:
        work = partial(needles, app.corpus.folder, each or 1, methods)
        async for said in measuring.run(work):
            yield said

    start.click(measured, [each, methods], results, **PRIVATE)
    return results


def _places(app: Application, measuring: Measuring) -> gr.HTML:
    html(view.intro("places"))
    with gr.Row(elem_classes="filters"):
        probe = gr.Dropdown(
            [
                ("multi-document question answering", "qa"),
                ("key-value retrieval", "kv"),
                ("passkey retrieval", "passkey"),
            ],
            value="qa",
            label="Task",
            filterable=False,
        )
        count = gr.Number(4, label="Questions", minimum=1, maximum=MOST, precision=0)
        lengths = gr.CheckboxGroup(
            [(f"{length:,}", length) for length in LENGTHS],
            value=[LENGTHS[0]],
            label="Tokens of evidence",
        )
    start = gr.Button("Measure positions", variant="primary", elem_classes="measure")
    results = html(elem_id="places")

    async def measured(probe: str, count: int, lengths: list[int]) -> AsyncIterator[str]:
        asked = Asked(probe, count or 1, tuple(lengths))
        work = partial(positions, app.corpus.folder, app.generator, asked)
        async for said in measuring.run(work):
            yield said

    start.click(measured, [probe, count, lengths], results, **PRIVATE)
    return results
