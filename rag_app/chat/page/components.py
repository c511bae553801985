"""Gradio components and settings that the views of the page share."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

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
)
ON_LOAD = f"ragApp.acts(element, trigger, {json.dumps(ACTS)})"

# No handler has a name in Gradio's API, and none waits for another.
PRIVATE: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_limit": None,
}


def html(value: str = "", *, elem_id: str | None = None, acts: bool = False) -> gr.HTML:
    """A component for rendered HTML; `acts` if its elements trigger events."""
    on_load = ON_LOAD if acts else None
    return gr.HTML(value, elem_id=elem_id, js_on_load=on_load, apply_default_css=False)
