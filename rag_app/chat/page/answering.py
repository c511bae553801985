"""The dialog about answers: their length, their form, and the model that writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import gradio as gr

from generator.answer_form import FORMS, LENGTHS, Form, Length
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Browser, own, value_of

if TYPE_CHECKING:
    from rag_app.chat.application import Application


def requested_length(browser: Browser) -> Length:
    """How long a person wants answers to be, as their browser has it."""
    length = browser.get("length")
    return next((one for one in LENGTHS if one == length), "usual")


def requested_form(browser: Browser) -> Form:
    """In what form a person wants answers, as their browser has it."""
    form = browser.get("form")
    return next((one for one in FORMS if one == form), "usual")


class AnsweringHandlers:
    """Event handlers; what is done with models goes to the routes of `web.routes.models`."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def open(self, browser: Browser, request: gr.Request) -> str:
        """The dialog, as it is for this person."""
        browser = own(self.app, browser, request)
        shape = {"length": requested_length(browser), "form": requested_form(browser)}
        return view.answering(self.app.models, browser["person"], shape)

    def keep(self, name: str) -> Callable[..., Browser]:
        """A handler that keeps the "length" or the "form" of answers in the browser."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Browser:
            value = value_of(event)
            values = value if isinstance(value, list) else []
            known = LENGTHS if name == "length" else FORMS
            choice = next((one for one in known if one in values), "usual")
            return {**own(self.app, browser, request), name: choice}

        return handle
