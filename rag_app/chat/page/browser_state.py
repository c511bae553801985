"""What a browser stores and sends, and whose browser it is."""

from __future__ import annotations

from typing import Any

import gradio as gr

from rag_app.chat import conversation_store as keys
from rag_app.chat.application import Application
from rag_app.chat.language.current import speak_to

Update = Any  # a component or its new value; Gradio has no type for it
Updates = tuple[Update, ...]

# Stored by a browser: "key", open "chat", "chosen" document ids, names of "collections", "length"
# and "form" of answers. Whoever is logged in, "person", comes from the request.
Browser = dict[str, Any]


def own(app: Application, browser: Browser | None, request: gr.Request) -> Browser:
    """What a browser has stored, with the key of whoever is logged in.

    Without logins its own key, or a new one where it has none, as before its first load event. What
    the handler says from here on is in the language of whoever made the request.
    """
    speak_to(request.headers)
    known = browser if isinstance(browser, dict) else {}
    key, user = known.get("key"), request.username
    if user is None:
        return {**(known if keys.is_key(key) else {"key": keys.new_key()}), "person": None}
    if isinstance(key, str) and keys.is_key(key):  # from before there were logins
        app.conversations.take_over(key, keys.login_key(user))
    return {**known, "key": keys.login_key(user), "person": user}


def value_of(event: gr.EventData) -> object:
    """The value that an element with `data-act` sent."""
    data = event._data
    return data.get("value") if isinstance(data, dict) else None
