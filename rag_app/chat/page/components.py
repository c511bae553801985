"""Gradio components and settings that the views of the page share."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from indexing.errors import InvalidRequest

# Events that elements with `data-act` trigger; Gradio needs each name in the code of the element.
ACTS = (
    "again",
    "check",
    "revise",
    "open_chat",
    "forget_chat",
    "choose",
    "choose_collections",
    "share_collection",
    "unshare_collection",
    "weigh_removal",
    "remove_document",
    "overview",
    "clear_list",
    "uploaded",
    "replace_upload",
    "keep_upload",
    "cancel_upload",
    "retry_upload",
    "refresh",
    "add_samples",
    "rename_chat",
    "pin_chat",
    "export_ratings",
    "rate_up",
    "rate_down",
    "cancel_edit",
    "open_answering",
    "set_length",
)
ON_LOAD = f"ragApp.acts(element, trigger, {json.dumps(ACTS)})"

# No handler has a name in Gradio's API, and none waits for another.
PRIVATE: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_limit": None,
}


def number(value: int, label: str, most: int) -> gr.Number:
    """A component for a whole number from 1; its label says up to where.

    Gradio's own limits would answer another number with "Error"; `whole_number` says what is wrong.
    """
    return gr.Number(value, label=f"{label} (1 to {most})", step=1)


def whole_number(value: object, label: str, most: int) -> int:
    """The value of such a component.

    Raises:
        InvalidRequest: It is none of these numbers.
    """
    if not isinstance(value, int | float) or not 1 <= value <= most or value % 1:
        raise InvalidRequest(f"{label}: give a whole number from 1 to {most}")
    return int(value)


def html(value: str = "", *, elem_id: str | None = None, acts: bool = False) -> gr.HTML:
    """A component for rendered HTML; `acts` if its elements trigger events."""
    on_load = ON_LOAD if acts else None
    return gr.HTML(value, elem_id=elem_id, js_on_load=on_load, apply_default_css=False)
