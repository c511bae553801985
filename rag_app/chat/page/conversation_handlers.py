"""What happens when a person names or pins a conversation, or rates one of its answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import gradio as gr

from indexing.errors import RagAppError
from rag_app.chat.application import Application
from rag_app.chat.conversation import Conversation, Rating
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Browser, Updates, own, value_of
from rag_app.chat.ratings import question_lines


class ConversationHandlers:
    """Event handlers; each returns new values for the components it is connected to."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def rename(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Give a conversation another name; an empty one gives it its first question again."""
        value = value_of(event)
        id_, name = (value.get("id"), value.get("name")) if isinstance(value, dict) else ("", "")
        return self._change(browser, request, str(id_), lambda one: one.named(str(name)))

    def pin(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Pin a conversation to the top of the list, or no longer."""

        def turn(one: Conversation) -> Conversation:
            return replace(one, pinned=not one.pinned)

        return self._change(browser, request, str(value_of(event)), turn)

    def rate(self, rating: Rating) -> Callable[..., Updates]:
        """A handler that rates an answer of the open conversation, or takes that back."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
            browser = own(self.app, browser, request)
            number = str(value_of(event))

            def change(one: Conversation) -> Conversation:
                if not number.isdecimal() or int(number) >= len(one.exchanges):
                    return one
                return one.rated(int(number), rating)

            return self._shown(
                browser, lambda id_: self.app.jobs.update(browser["key"], id_, change)
            )

        return handle

    def stop_telling(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """End a standing question of the open conversation."""
        browser, name = own(self.app, browser, request), str(value_of(event))
        return self._shown(browser, lambda id_: self.app.tellings.stop(browser["key"], id_, name))

    def _shown(self, browser: Browser, change: Callable[[str], Conversation]) -> Updates:
        """The open conversation after a change of it."""
        try:
            changed = change(str(browser.get("chat")))
        except RagAppError as error:
            return gr.skip(), gr.skip(), view.failure(error)
        job = self.app.jobs.of(changed)
        before = job.conversation if job else changed
        return (
            view.conversation(
                before, busy=job is not None, checks=self.app.measurements is not None
            ),
            self._list(browser),
            "",
        )

    def ratings(self, browser: Browser, request: gr.Request) -> str:
        """The question file of a person's rated answers, as the browser saves it."""
        browser = own(self.app, browser, request)
        lines = question_lines(self.app.conversations.all(browser["key"]))
        text = "".join(f"{line}\n" for line in lines)
        return json.dumps({"name": "rated-questions.jsonl", "text": text})

    def _change(
        self,
        browser: Browser,
        request: gr.Request,
        id_: str,
        change: Callable[[Conversation], Conversation],
    ) -> Updates:
        browser = own(self.app, browser, request)
        try:
            self.app.jobs.update(browser["key"], id_, change)
        except RagAppError as error:
            return gr.skip(), view.failure(error)
        return self._list(browser), ""

    def _list(self, browser: Browser) -> str:
        return view.conversations(
            self.app.conversations.all(browser["key"]), str(browser.get("chat"))
        )
