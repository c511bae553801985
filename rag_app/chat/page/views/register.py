"""The register view: decisions, actions and open questions of all meetings, with filters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, cast

import gradio as gr
from gradio.blocks import Block

from generator.register.entry import Register
from indexing.errors import InvalidRequest, RagAppError
from indexing.filter import Filter, Scope
from indexing.message import N_
from rag_app.chat.application import Application
from rag_app.chat.language.current import count, gettext, speak_to
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Updates
from rag_app.chat.page.components import PRIVATE, html, label, saved
from rag_app.register.forms import FORMS

KINDS = {"decision": N_("Decisions"), "action": N_("Actions"), "question": N_("Open questions")}
STATES = {
    "open": N_("Still open"),
    "confirmed": N_("Confirmed"),
    "changed": N_("Changed"),
    "done": N_("Done"),
    "dropped": N_("Dropped"),
}
FILES = {
    "csv": ("register.csv", N_("Save as CSV")),
    "markdown": ("register.md", N_("Save as Markdown")),
    "ics": ("register.ics", N_("Save as iCalendar")),
}
MAX_SHOWN = 200  # matters; the files have all
PATIENCE = 1.0  # seconds until it is said how far the reading is

Values = dict[gr.components.Component, Any]
Progress = Callable[[int, int], None]


def register(app: Application, tab: gr.Tab, browser: gr.BrowserState, download: gr.Textbox) -> None:
    """Build the view in its tab; files go through `download`."""
    with gr.Column(elem_classes="sheet"):
        with gr.Row(elem_classes="filters"):
            kind = _choice(N_("Kind"), KINDS)
            state = _choice(N_("State"), STATES)
            person = gr.Textbox(label=label("Who"), placeholder=label("anyone"), max_length=200)
            since = gr.Textbox(label=label("Since"), placeholder="2026-03", max_length=40)
            until = gr.Textbox(label=label("Until"), placeholder="2026-03-14", max_length=40)
        with gr.Row(elem_classes="saves"):
            buttons = {
                form: gr.Button(label(name), size="sm", elem_classes="save")
                for form, (_, name) in FILES.items()
            }
        shown = html(elem_id="register", acts=True)

    def found(values: Values, login: str | None, progress: Progress | None = None) -> Register:
        ticked = values[browser] or {}
        if app.document_list.is_empty(login):
            raise InvalidRequest(gettext("No documents yet. Add some on the left."))
        where = Filter(
            documents=app.document_list.select(ticked.get("chosen"), login),
            collections=app.collection_list.select(ticked.get("collections"), login),
            since=values[since],
            until=values[until],
        )
        return app.corpus.seen_by(Scope(login)).register(
            person=values[person].strip(),
            kind=values[kind] or (),
            state=values[state] or (),
            where=where,
            progress=progress,
        )

    async def show(values: Values, request: gr.Request) -> AsyncIterator[str]:
        speak_to(request.headers)
        read: list[int] = []

        def progress(done: int, total: int) -> None:
            read[:] = done, total

        read_all = partial(found, values, request.username, progress)
        who = request.username or request.session_hash or ""
        reading = asyncio.create_task(app.questions.in_turn(read_all, who=who))
        try:
            while not (await asyncio.wait([reading], timeout=PATIENCE))[0]:
                yield view.notice(_reading(read))
            yield _shown(await reading)
        except RagAppError as error:
            yield view.failure(error)
        finally:
            reading.cancel()

    def save(form: str) -> Callable[..., Updates]:
        def handle(values: Values, request: gr.Request) -> Updates:
            speak_to(request.headers)
            try:
                text = FORMS[form](found(values, request.username))
            except RagAppError as error:
                return "", view.failure(error)
            return json.dumps({"name": FILES[form][0], "text": text}), gr.skip()

        return handle

    fields = (kind, state, person, since, until)
    inputs: set[Block] = {*fields, browser}
    follows = {**PRIVATE, "trigger_mode": "always_last"}  # what was chosen while it was made
    for act in (
        tab.select,
        cast(Any, shown).show_register,
        *(field.submit for field in (person, since, until)),
        *(field.change for field in (kind, state)),
    ):
        act(show, inputs, shown, **follows)
    for form, button in buttons.items():
        saved(button.click(save(form), inputs, [download, shown], **PRIVATE), download)


def _choice(name: str, choices: Mapping[str, str]) -> gr.Dropdown:
    """One of several, or all."""
    every = [(label("All"), ""), *((label(words), value) for value, words in choices.items())]
    return gr.Dropdown(every, value="", label=label(name), filterable=False)


def _reading(read: list[int]) -> str:
    if not read:
        return gettext("Reading documents …")
    done, total = map(count, read)
    return gettext("Reading documents: %(done)s of %(total)s", done=done, total=total)


def _shown(found: Register) -> str:
    matters = found.matters[:MAX_SHOWN]
    kinds = [
        (gettext(name), [one for one in matters if one.kind == kind])
        for kind, name in KINDS.items()
    ]
    return view.render(
        "register.html",
        found=found,
        shown=len(matters),
        kinds=[each for each in kinds if each[1]],
        states={state: gettext(name) for state, name in STATES.items()},
    )
