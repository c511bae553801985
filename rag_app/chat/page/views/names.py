"""The names view: other spellings of names, listed, proposed, added and removed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import gradio as gr

from indexing.errors import RagAppError
from indexing.text.aliases import ANY
from rag_app.chat.application import Application
from rag_app.chat.language.current import gettext, speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Update, Updates, value_of
from rag_app.chat.page.components import PRIVATE, html, in_each_language, label
from rag_app.chat.page.views.alias_list import AliasList
from rag_app.corpus.contents.alias_proposals import Proposal
from rag_app.corpus.contents.aliases import LONGEST, CorpusAliases

Proposals = Sequence[Proposal] | None  # as a session keeps them


def names(app: Application, tab: gr.Tab) -> None:
    """Build the view in its tab."""
    aliases = AliasList(app.corpus, app.people)
    with gr.Column(elem_classes="sheet"):
        html(in_each_language(lambda: view.render("names_intro.html")))
        known = html(acts=True, elem_id="names")
        with gr.Column(visible=False) as changes:
            with gr.Row(elem_classes="filters"):
                name = gr.Textbox(label=label("Name"), placeholder="Aoife", max_length=LONGEST)
                spelling = gr.Textbox(
                    label=label("Other spelling"), placeholder="Eefa", max_length=LONGEST
                )
            with gr.Row(elem_classes="saves"):
                add = gr.Button(label("Add"), size="sm", elem_classes="save")
                propose = gr.Button(label("Look for candidates"), size="sm", elem_classes="save")
            proposals = html(acts=True, elem_id="proposals")
        found = gr.State(())

    def shown(person: str | None, notice: str = "") -> str:
        """The names, for whoever keeps them."""
        try:
            entries = aliases.seen_by(person).all().entries
        except RagAppError as error:
            return view.notice(translated(str(error)))
        return view.render("names.html", entries=entries, notice=notice)

    def opened(request: gr.Request) -> Updates:
        speak_to(request.headers)
        person = request.username
        return shown(person), gr.Column(visible=not aliases.refusal(person))

    def change(
        request: gr.Request, act: Callable[[CorpusAliases], object], before: Proposals = None
    ) -> Updates:
        """The names after a change, and what was proposed `before` without those that are names."""
        speak_to(request.headers)
        person = request.username
        try:
            aliases.change(person, act)
        except RagAppError as error:
            return shown(person, translated(str(error))), gr.skip(), gr.skip(), gr.skip()
        taken = aliases.seen_by(person).all().names
        left = tuple(one for one in before or () if one.spelling not in taken)
        return shown(person), left, _proposed(left) if left else "", ""

    def add_typed(name: str, spelling: str, before: Proposals, request: gr.Request) -> Updates:
        return change(request, lambda known: known.add(name, spelling), before)

    def add_proposed(before: Proposals, event: gr.EventData, request: gr.Request) -> Updates:
        name, _, spelling = str(value_of(event)).partition(ANY)
        return change(request, lambda known: known.add(name, spelling), before)

    def forget(event: gr.EventData, request: gr.Request) -> Update:
        return change(request, lambda known: known.remove(str(value_of(event))))[0]

    async def look(request: gr.Request) -> AsyncIterator[Updates]:
        speak_to(request.headers)
        yield gr.skip(), view.notice(gettext("Reading documents …"))
        try:
            who = request.username or request.session_hash or ""
            read = aliases.seen_by(request.username).propose
            yield (likely := tuple(await app.questions.in_turn(read, who=who))), _proposed(likely)
        except RagAppError as error:
            yield (), view.failure(error)

    lists = [known, found, proposals, spelling]
    tab.select(opened, None, [known, changes], **PRIVATE)
    for act in (add.click, name.submit, spelling.submit):
        act(add_typed, [name, spelling, found], lists, **PRIVATE)
    cast(Any, proposals).add_alias(add_proposed, [found], lists, **PRIVATE)
    cast(Any, known).remove_alias(forget, None, known, **PRIVATE)
    propose.click(look, None, [found, proposals], **PRIVATE)


def _proposed(found: Sequence[Proposal]) -> str:
    return view.render("proposals.html", found=found)
