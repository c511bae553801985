"""Gradio components and settings that the views of the page share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.i18n import I18nData

from indexing.errors import InvalidRequest
from rag_app.chat.language.catalogue import LANGUAGES, translations
from rag_app.chat.language.current import gettext, speaking, usual

# Events that elements with `data-act` trigger; Gradio needs each name in the code of the element.
ACTS = (
    "again", "everywhere", "check", "stop_telling", "revise", "open_chat", "forget_chat", "choose",
    "choose_collections", "make_collection", "share_collection", "unshare_collection",
    "weigh_removal", "remove_document", "overview", "clear_list", "uploaded", "replace_upload",
    "keep_upload", "cancel_upload", "retry_upload", "refresh", "add_samples", "rename_chat",
    "pin_chat", "export_ratings", "rate_up", "rate_down", "cancel_edit", "open_answering",
    "set_length", "set_form", "show_register", "add_alias", "remove_alias",
)  # fmt: skip
ON_LOAD = f"ragApp.acts(element, trigger, {json.dumps(ACTS)})"

# No handler has a name in Gradio's API, and none waits for another.
PRIVATE: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_limit": None,
}


I18N = gr.I18n(**{code: {} for code in LANGUAGES})
"""What Gradio writes in each language: the words of components, and HTML that never changes."""


def label(message: str) -> I18nData:
    """A message that Gradio shows in the language of the page."""
    plain = message[:]  # orjson takes no key of a subclass of str
    for code in LANGUAGES:
        I18N.translations[code][plain] = translations(code).gettext(plain)
    return I18N(plain)


def in_each_language(write: Callable[[], str]) -> I18nData:
    """HTML that never changes, as Gradio shows it in the language of the page."""
    key = ""
    for code in LANGUAGES:
        with speaking(usual(code)):
            text = write()
        key = key or text
        I18N.translations[code][key] = text
    return I18N(key)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from 1 that people write into a field."""

    name: str  # what it counts
    label: str  # the same, and up to where
    most: int


def number(value: int, of: Whole) -> gr.Number:
    """A component for a whole number from 1; its label says up to where.

    Gradio's own limits would answer another number with "Error"; `whole_number` says what is wrong.
    """
    return gr.Number(value, label=label(of.label), step=1)


def whole_number(value: object, of: Whole) -> int:
    """The value of such a component.

    Raises:
        InvalidRequest: It is none of these numbers.
    """
    if not isinstance(value, int | float) or not 1 <= value <= of.most or value % 1:
        raise InvalidRequest(
            gettext(
                "%(field)s: give a whole number from 1 to %(most)s",
                field=gettext(of.name),
                most=of.most,
            )
        )
    return int(value)


def html(value: str | I18nData = "", *, elem_id: str | None = None, acts: bool = False) -> gr.HTML:
    """A component for rendered HTML; `acts` if its elements trigger events."""
    on_load = ON_LOAD if acts else None
    return gr.HTML(value, elem_id=elem_id, js_on_load=on_load, apply_default_css=False)


def saved(event: Any, download: gr.Textbox) -> None:  # noqa: ANN401 - of Gradio
    """Let the browser save what an event writes into `download`: a file as JSON with its name."""
    event.then(None, [download], None, js="(file) => ragApp.save(file)", **PRIVATE)
