"""The evaluation view: a needle test of the corpus, and accuracy by position of the evidence."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

import gradio as gr

from indexing.errors import InvalidRequest
from indexing.message import N_
from rag_app.chat.language import current as language
from rag_app.chat.language.current import speak_to
from rag_app.chat.page.components import (
    PRIVATE,
    Whole,
    html,
    in_each_language,
    label,
    number,
    whole_number,
)
from rag_app.chat.page.html import failure
from rag_app.laboratory.page import html as view
from rag_app.laboratory.page.measurements import (
    LENGTHS,
    MAX_QUESTIONS,
    Measurement,
    PositionSettings,
    needles,
    positions,
)

if TYPE_CHECKING:
    from rag_app.chat.application import Application

FACTS = Whole(N_("Facts per depth and length"), N_("Facts per depth and length (1 to 8)"), 8)
QUESTIONS = Whole(N_("Questions"), N_("Questions (1 to 20)"), MAX_QUESTIONS)


def evaluate(app: Application, blocks: gr.Blocks) -> None:
    """Build the view."""
    lock = threading.Lock()
    with gr.Column(elem_classes="sheet"):
        for panel in (_needle_panel, _position_panel):
            measurement = Measurement(lock)
            results = panel(app, measurement)
            blocks.load(measurement.report, None, results, **PRIVATE)


def _needle_panel(app: Application, measurement: Measurement) -> gr.HTML:
    html(in_each_language(lambda: view.intro("needles")))
    with gr.Row(elem_classes="filters"):
        each = number(2, FACTS)
        extensions = gr.CheckboxGroup(
            [
                (label("parallel context windows (pcw)"), "pcw"),
                (label("truncated to one window"), "none"),
            ],
            value=["pcw"],
            label=label("How documents are encoded"),
        )
    start = gr.Button(label("Measure"), variant="primary", elem_classes="measure")
    results = html(elem_id="measured")

    async def run(
        each: float | None, extensions: list[str], request: gr.Request
    ) -> AsyncIterator[str]:
        speak_to(request.headers)
        try:
            work = partial(needles, app.corpus.folder, whole_number(each, FACTS), extensions)
        except InvalidRequest as error:
            yield failure(error)
            return
        async for report in measurement.run(work):
            yield report

    start.click(run, [each, extensions], results, **PRIVATE)
    return results


def _position_panel(app: Application, measurement: Measurement) -> gr.HTML:
    html(in_each_language(lambda: view.intro("positions")))
    with gr.Row(elem_classes="filters"):
        probe = gr.Dropdown(
            [
                (label("multi-document question answering"), "qa"),
                (label("key-value retrieval"), "kv"),
                (label("passkey retrieval"), "passkey"),
            ],
            value="qa",
            label=label("Task"),
            filterable=False,
        )
        count = number(4, QUESTIONS)
        lengths = gr.CheckboxGroup(
            [(in_each_language(partial(language.count, length)), length) for length in LENGTHS],
            value=[LENGTHS[0]],
            label=label("Tokens of evidence"),
        )
    start = gr.Button(label("Measure positions"), variant="primary", elem_classes="measure")
    results = html(elem_id="positions")

    async def run(
        probe: str, count: float | None, lengths: list[int], request: gr.Request
    ) -> AsyncIterator[str]:
        speak_to(request.headers)
        try:
            settings = PositionSettings(probe, whole_number(count, QUESTIONS), tuple(lengths))
        except InvalidRequest as error:
            yield failure(error)
            return
        work = partial(positions, app.corpus.folder, app.models.current, settings)
        async for report in measurement.run(work):
            yield report

    start.click(run, [probe, count, lengths], results, **PRIVATE)
    return results
