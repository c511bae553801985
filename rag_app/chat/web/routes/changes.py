"""GET /changes: a mark of what a page shows, which differs once anything of it has changed."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

from rag_app.chat.application import Application
from rag_app.chat.changes import mark
from rag_app.chat.conversation_store import login_key
from rag_app.chat.web.auth import user_of

PATH = "/changes"


def add(web: FastAPI, app: Application) -> None:
    """Answer what a page asks every few seconds; nothing stays open in between."""

    async def changes(request: Request) -> PlainTextResponse:
        person = user_of(request.scope)
        if person is None:
            chats = request.query_params.get("chats", "")
        else:  # whatever the page says
            chats = app.conversations.name(login_key(person))
        latest = await asyncio.to_thread(mark, app, chats, person)
        return PlainTextResponse(latest, headers={"Cache-Control": "no-store"})

    web.add_api_route(PATH, changes, methods=["GET"], response_model=None)
