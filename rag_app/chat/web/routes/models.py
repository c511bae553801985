"""POST /model/...: look for language models, test one, choose one. No key is ever in a response."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError

from indexing.errors import InvalidRequest, RagAppError
from rag_app.chat.application import Application
from rag_app.chat.language.current import decimal, gettext, ngettext, speak_to
from rag_app.chat.model_address import MAX_ADDRESS
from rag_app.chat.model_choice import ModelChoice
from rag_app.chat.page import html as view
from rag_app.chat.web.auth import user_of

PATH = "/model"
MAX_KEY = 1000  # characters


class ModelForm(BaseModel):
    """What somebody filled in: the name of a model, as `--generator` takes it, or a server.

    The key is that of the server; "" for the one that is kept, or none.
    """

    model: str = Field("", max_length=MAX_ADDRESS)
    address: str = Field("", max_length=MAX_ADDRESS)
    key: str = Field("", max_length=MAX_KEY, repr=False)


def add(web: FastAPI, app: Application) -> None:
    """Answer what the page's dialog asks, each time with a piece of HTML for it."""
    answers = {"look": _look, "list": _list, "test": _test, "use": _use, "forget": _forget}
    for name, answer in answers.items():
        _add(web, app, name, answer)


Answer = Callable[["ModelChoice", ModelForm, "str | None"], str]


def _add(web: FastAPI, app: Application, name: str, answer: Answer) -> None:
    async def handle(request: Request) -> JSONResponse:
        speak_to(request.headers)
        person = user_of(request.scope)
        try:
            form = _form(request.headers.get("content-type", ""), await request.body())
            html = await asyncio.to_thread(answer, app.models, form, person)
        except RagAppError as error:
            return JSONResponse({"html": view.failure(error)}, 422)
        return JSONResponse({"html": html, "model": view.model_label(app.models.current)})

    web.add_api_route(f"{PATH}/{name}", handle, methods=["POST"], response_model=None)


def _form(kind: str, body: bytes) -> ModelForm:
    """What a request holds; an error repeats nothing of it, as it may hold a key.

    Raises:
        InvalidRequest: It is no form, or no JSON, which pages of other servers cannot send.
    """
    if not kind.startswith("application/json"):
        raise InvalidRequest("send the form as application/json")
    try:
        return ModelForm.model_validate_json(body)
    except ValidationError:
        raise InvalidRequest(
            f"the form cannot be read; a name or an address has at most {MAX_ADDRESS} characters, "
            f"a key {MAX_KEY:,}"
        ) from None


def _look(models: ModelChoice, form: ModelForm, person: str | None) -> str:
    return view.server_models(models.look(person), models.current)


def _list(models: ModelChoice, form: ModelForm, person: str | None) -> str:
    return view.server_models([models.at(form.address, form.key, person)], models.current)


def _test(models: ModelChoice, form: ModelForm, person: str | None) -> str:
    trial = models.test(form.model, form.key, person)
    label = view.model_label(form.model)
    if not trial.text:
        message = gettext("%(model)s answers with nothing; choose another model", model=label)
        return view.notice(message, kind="error")
    message = gettext(
        "%(model)s works: it answered “%(text)s” in %(seconds)s s.",
        model=label,
        text=trial.text,
        seconds=decimal(trial.seconds, 1),
    )
    return view.notice(message)


def _use(models: ModelChoice, form: ModelForm, person: str | None) -> str:
    models.use(form.model, form.key, person)
    label = view.model_label(models.current)
    return view.notice(gettext("%(model)s writes generated answers from now on.", model=label))


def _forget(models: ModelChoice, form: ModelForm, person: str | None) -> str:
    count = models.forget_keys(person)
    return view.notice(
        ngettext(
            "%(num)s key deleted from the server.", "%(num)s keys deleted from the server.", count
        )
    )
