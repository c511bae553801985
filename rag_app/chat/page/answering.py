"""The dialog about answers: their length, their form, and the model that writes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import gradio as gr

from generator.answer_form import FORMS, LENGTHS
from rag_app.chat.application import Application
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Browser, own, value_of

SHAPES: dict[str, Collection[str]] = {"length": LENGTHS, "form": FORMS}


def requested_shape(browser: Browser) -> dict[str, Any]:
    """How long, and in what form, a person wants answers, as their browser has it."""
    return {name: _known(name, [browser.get(name)]) for name in SHAPES}


def _known(name: str, values: object) -> str:
    """The length or form among what a browser sent."""
    sent = values if isinstance(values, list) else []
    return next((one for one in SHAPES[name] if one in sent), "usual")


class AnsweringHandlers:
    """Event handlers; what is done with models goes to the routes of `web.routes.models`."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def open(self, browser: Browser, request: gr.Request) -> str:
        """The dialog, as it is for this person."""
        browser = own(self.app, browser, request)
        return view.answering(self.app.models, browser["person"], requested_shape(browser))

    def keep(self, name: str) -> Callable[..., Browser]:
        """A handler that keeps the "length" or the "form" of answers in the browser."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Browser:
            return {**own(self.app, browser, request), name: _known(name, value_of(event))}

        return handle
