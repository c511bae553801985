"""The search view: documents and passages for a query, or every place, with filters."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr
from starlette.concurrency import run_in_threadpool

from generator.instances.instances import Instances
from indexing.errors import RagAppError
from indexing.filter import Filter, Scope
from indexing.message import N_
from rag_app.chat.application import Application
from rag_app.chat.language.current import speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import html as view
from rag_app.chat.page.components import PRIVATE, Whole, html, label, number, whole_number
from rag_app.chat.request_limits import MAX_QUESTION
from rag_app.corpus.reader import CorpusReader
from rag_app.requests.mentions import STATED, told

DOCUMENTS = Whole(N_("Documents"), N_("Documents (1 to 50)"), 50)
PASSAGES = Whole(N_("Passages per document"), N_("Passages per document (1 to 20)"), 20)
FIRST = Whole(N_("From place"), N_("From place (of every place)"), 1_000)

Values = dict[gr.Component, Any]


def search(app: Application, browser: gr.BrowserState) -> None:
    """Build the view."""
    with gr.Column(elem_classes="sheet"):
        query = gr.Textbox(
            label=label("Search"),
            placeholder=label("A question, a name, a description of any length"),
            lines=1,
            max_lines=4,
            max_length=MAX_QUESTION,
            show_label=False,
            container=False,
            submit_btn=True,
            elem_id="query",
        )
        with gr.Row(elem_classes="filters"):
            speaker = gr.Textbox(
                label=label("Speaker"), placeholder=label("anyone"), max_length=200
            )
            pattern = gr.Textbox(label=label("File"), placeholder="*.vtt", max_length=400)
            since = gr.Textbox(label=label("Since"), placeholder="2026-03", max_length=40)
            until = gr.Textbox(label=label("Until"), placeholder="2026-03-14", max_length=40)
            people = gr.Textbox(label=label("With"), placeholder="Ada, Bob", max_length=400)
            k = number(5, DOCUMENTS)
            passages = number(2, PASSAGES)
            every = gr.Checkbox(label=label("Every place, and how many there are"))
            first = number(1, FIRST)
        results = html(elem_id="results")

    def limits(values: Values, person: str | None) -> Filter:
        state = values[browser]
        return Filter(
            documents=app.document_list.select(state.get("chosen"), person),
            path=values[pattern].strip() or None,
            speaker=values[speaker].strip() or None,
            collections=app.collection_list.select(state.get("collections"), person),
            since=values[since],
            until=values[until],
            participants=tuple(values[people].split(",")),
        )

    def best(values: Values, corpus: CorpusReader, where: Filter) -> str:
        results = corpus.partial_search(
            values[query],
            k=whole_number(values[k], DOCUMENTS),
            passages=whole_number(values[passages], PASSAGES),
            where=where,
        )
        if not results.hits and (nothing := corpus.nothing_matches(where)):
            return view.notice(translated(nothing))
        lost = "".join(view.notice(translated(line.title)) for line in results.missing)
        return lost + view.hits(corpus, results.hits, where)

    async def run(values: Values, request: gr.Request) -> str:
        speak_to(request.headers)
        person = request.username
        try:
            corpus = app.corpus.seen_by(Scope(person))
            where = await run_in_threadpool(limits, values, person)
            if not values[every]:
                return await run_in_threadpool(best, values, corpus, where)
            start = whole_number(values[first], FIRST) - 1
            read = partial(corpus.every, values[query], start=start, where=where)
            who = person or request.session_hash or ""
            found = await app.questions.in_turn(read, who=who)
            return await run_in_threadpool(_instances, corpus, found, where)
        except RagAppError as error:
            return view.failure(error)

    fields = (query, speaker, pattern, since, until, people, k, passages, first)
    for field in fields:
        field.submit(run, {*fields, every, browser}, results, **PRIVATE)


def _instances(corpus: CorpusReader, found: Instances, where: Filter) -> str:
    """How many places there probably are, then those of a page."""
    message, values = told(found)
    text = view.notice(translated(message).format(**values))
    if found.stated is not None:
        stated = view.hits(corpus, found.as_hits([found.stated]), where)
        text = view.notice(translated(STATED)) + stated + text
    return text + view.hits(corpus, found.hits, where)
