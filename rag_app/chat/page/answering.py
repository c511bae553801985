"""The dialog on how answers are made: how long they are, and which model writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gradio as gr

from generator.answer_length import LENGTHS, Length
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Browser, own, value_of

if TYPE_CHECKING:
    from rag_app.chat.application import Application


def wanted_length(browser: Browser) -> Length:
    """How long a person wants answers to be, as their browser has it."""
    wanted = browser.get("length")
    return next((one for one in LENGTHS if one == wanted), "usual")


class AnsweringHandlers:
    """Event handlers; what is done with models goes to the routes of `web.model_route`.

    Args:
        app: The application.
    """

    def __init__(self, app: Application) -> None:
        self.app = app

    def open(self, browser: Browser, request: gr.Request) -> str:
        """The dialog, as it is for this person."""
        browser = own(self.app, browser, request)
        return view.answering(self.app.models, browser["person"], wanted_length(browser))

    def set_length(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Browser:
        """Keep how long answers are to be, in the browser."""
        value = value_of(event)
        wanted = value[0] if isinstance(value, list) and value else ""
        return {**own(self.app, browser, request), "length": wanted_length({"length": wanted})}
