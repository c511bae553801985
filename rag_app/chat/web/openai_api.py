"""An OpenAI-compatible chat completions API whose responses carry citations.

Any client of that API works. The last message is the question. The fields `citations`, `short`
(the words that answer, if any stand out) and `rag_app` stand beside `choices`; in a stream, in the
last chunk.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import zip_longest
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from generator.answer import Answer, AnswerReady, Mode, TextDelta
from generator.answer_json import as_json
from generator.prompt.follow_up import Turn
from generator.prompt.ledger import count_words
from generator.request import AskRequest
from indexing.error_log import logged
from indexing.errors import Busy, CollectionNotFound, DocumentNotFound, InputError, RagAppError
from indexing.filter import Scope
from rag_app.chat.application import Application
from rag_app.chat.queues.question_queue import QuestionQueue
from rag_app.chat.request_limits import MAX_HISTORY, MAX_QUESTION
from rag_app.chat.web.auth import user_of
from rag_app.chat.web.file_names import without_folder, without_places
from rag_app.chat.web.openai_errors import API, error_response, error_values
from rag_app.corpus.access import SharedCorpus
from rag_app.request_fields import ask_request, fields_of
from rag_app.request_models import with_fields

MODELS: dict[str, Mode | None] = {"rag-app": None, "rag-app-quote": "quote", "rag-app-free": "free"}

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
# Codes of the API for what is wrong with a field, by pydantic's names.
CODES = {"missing": "missing_required_parameter", "string_too_long": "string_above_max_length"}
MAX_FAULTS = 5  # that a message names
FAILED = "the answer failed unexpectedly; the server's log says why"

Json = dict[str, Any]


class Part(BaseModel):
    """A part of a message; only text is accepted."""

    type: Literal["text"]
    text: str


class Message(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """All of its text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream holds beside the answer."""

    include_usage: bool = False


class Completion(BaseModel):
    """A request; fields of the API that are not listed, such as `temperature`, are ignored.

    Beside those here it has the fields of `rag_app.request_fields`.
    """

    model: str
    messages: list[Message] = Field(min_length=1, max_length=500)
    n: int | None = Field(None, ge=1, le=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: Annotated[str, Field(max_length=1000)] = ""

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends with its usage."""
        return self.stream_options is not None and self.stream_options.include_usage


def add(web: FastAPI, app: Application) -> None:
    """Serve /v1/models and /v1/chat/completions."""

    async def models() -> Json:
        return {"object": "list", "data": [_model(name) for name in MODELS]}

    async def model(name: str) -> Json | JSONResponse:
        return _model(name) if name in MODELS else _no_model(name)

    async def complete(request: Request, body: Completion) -> JSONResponse | StreamingResponse:
        if body.model not in MODELS:
            return _no_model(body.model)
        if (refusal := _refusal(body)) is not None:
            return refusal
        person = user_of(request.scope)
        who = person or body.user or (request.client.host if request.client else "")
        try:
            ask = _ask_request(body, MODELS[body.model] or app.answer)
            reply = _Reply(body, app.questions, ask, Scope(person), f"api {who}")
            return await (reply.stream() if body.stream else reply.complete())
        except RagAppError as error:
            return _error_of(error, app.corpus)
        except Exception as error:
            _log(error)
            return error_response(FAILED, 500)

    async def unknown(request: Request) -> JSONResponse:
        known = {f"{API}/models": "GET", f"{API}/chat/completions": "POST"}
        path, method = request.url.path, request.method
        if path in known:
            message = f"{method} is not accepted here, only {known[path]}"
            return error_response(message, 405, headers={"Allow": known[path]})
        return error_response(f"no such endpoint: {method} {path[:200]}", 404, code="unknown_url")

    complete.__annotations__["body"] = with_fields(Completion, "API", "ask")
    web.add_api_route(f"{API}/models", models, methods=["GET"])
    web.add_api_route(f"{API}/models/{{name}}", model, methods=["GET"], response_model=None)
    web.add_api_route(f"{API}/chat/completions", complete, methods=["POST"], response_model=None)
    for path in (API, f"{API}/{{rest:path}}"):
        web.add_route(path, unknown, methods=METHODS)
    web.add_exception_handler(RequestValidationError, _malformed)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    """What is wrong with the fields of a request."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    places = [(_param(one["loc"]) or "the body", one["msg"]) for one in faults[:MAX_FAULTS]]
    message = "; ".join(f"{place}: {fault}" for place, fault in places)
    code = CODES.get(faults[0]["type"])
    return error_response(message, 400, code=code, param=_param(faults[0]["loc"]) or None)


def _param(place: Sequence[str | int]) -> str:
    """The place of a fault as the API writes it, such as "messages[0].content"."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:]]
    whole = "".join(parts).lstrip(".")
    return "" if whole.startswith("[") else whole  # an offset in what is no JSON


def _refusal(body: Completion) -> JSONResponse | None:
    """Why a request is refused before anything is done for it; None if it is not."""
    *before, last = body.messages
    param = f"messages[{len(before)}]"
    if last.role != "user":
        return error_response("the last message must be the user's question", 400, param=param)
    if len(last.text) > MAX_QUESTION:
        message = f"the question has {len(last.text):,} characters; at most {MAX_QUESTION:,}"
        code = "string_above_max_length"
        return error_response(message, 400, code=code, param=f"{param}.content")
    if (length := sum(len(each.text) for each in before)) > MAX_HISTORY:
        message = f"the messages before it have {length:,} characters; at most {MAX_HISTORY:,}"
        return error_response(message, 400, code="context_length_exceeded", param="messages")
    return None


def _model(name: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": "rag-app"}


def _no_model(name: str) -> JSONResponse:
    message = f"no model {name[:200]!r}; there are: {', '.join(MODELS)}"
    return error_response(message, 404, code="model_not_found", param="model")


def _ask_request(body: Completion, mode: Mode | None) -> AskRequest:
    """What is asked."""
    fields = {one.name: getattr(body, one.name) for one in fields_of("API", "ask")}
    *before, last = body.messages
    fields |= {"mode": fields["mode"] or mode, "history": tuple(_turns(before))}
    return ask_request(last.text, fields)


def _turns(messages: Sequence[Message]) -> Iterator[Turn]:
    """Each message of the user with the answer to it, if there is one."""
    for message, following in zip_longest(messages, messages[1:]):
        if message.role == "user":
            has_answer = following is not None and following.role == "assistant"
            yield Turn(message.text, following.text if has_answer else "")


def _log(error: Exception) -> None:
    """Say on the server, and in the log of errors, what failed; programs far away get no path."""
    logging.getLogger("rag_app").error("a completion failed %s", logged(error), exc_info=error)


class _Reply:
    """The answer to one request, in the formats of the API."""

    def __init__(
        self,
        body: Completion,
        questions: QuestionQueue,
        request: AskRequest,
        scope: Scope,
        who: str,
    ) -> None:
        self._body, self._questions, self._request, self._who = body, questions, request, who
        self._scope = scope
        self._shared = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": body.model,
        }

    async def complete(self) -> JSONResponse:
        answer = await self._questions.answer(self._request, self._scope, who=self._who)
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        values = {**self._shared, "object": "chat.completion", "choices": [choice]}
        values["usage"] = self._usage(answer)
        return JSONResponse({**values, **_extra_fields(answer)})

    async def stream(self) -> StreamingResponse:
        """A stream, opened once its first event is there, so that earlier errors have a status."""
        events = self._questions.astream(self._request, self._scope, who=self._who)
        first = await anext(events)

        async def chunks() -> AsyncIterator[str]:
            yield self._chunk({"role": "assistant", "content": ""})
            try:
                event = first
                while not isinstance(event, AnswerReady):
                    if isinstance(event, TextDelta):
                        yield self._chunk({"content": event.text})
                    event = await anext(events)
                yield self._chunk({}, finish="stop", **_extra_fields(event.answer))
                if self._body.includes_usage:
                    yield self._last_chunk(self._usage(event.answer))
            except RagAppError as error:
                message = without_folder(str(error), self._questions.corpus)
                yield _event(error_values(message, 500))
            except Exception as error:
                _log(error)
                yield _event(error_values(FAILED, 500))
            finally:
                await events.aclose()
            yield "data: [DONE]\n\n"

        return StreamingResponse(chunks(), media_type="text/event-stream")

    def _chunk(self, delta: Json, *, finish: str | None = None, **extra: object) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        values = {**self._shared, "object": "chat.completion.chunk", "choices": [choice]}
        if self._body.includes_usage:
            extra["usage"] = None
        return _event({**values, **extra})

    def _last_chunk(self, usage: Json) -> str:
        kind = "chat.completion.chunk"
        return _event({**self._shared, "object": kind, "choices": [], "usage": usage})

    def _usage(self, answer: Answer) -> Json:
        """Tokens as the context ledger counts them: the model's, or words where none is asked."""
        messages = sum(count_words(each.text) for each in self._body.messages)
        read = messages + sum(entry.kept for entry in answer.context)
        written = count_words(answer.text)
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _extra_fields(answer: Answer) -> Json:
    """The fields that stand beside those of the API: the answer, and two of its parts."""
    values = as_json(without_places(answer))
    return {"citations": values["citations"], "short": values["short"], "rag_app": values}


def _event(values: Json) -> str:
    return f"data: {json.dumps(values, ensure_ascii=False)}\n\n"


def _error_of(error: RagAppError, corpus: SharedCorpus) -> JSONResponse:
    """The response to an error of ours, without where the corpus lies."""
    message = without_folder(str(error), corpus)
    if isinstance(error, Busy):
        code, retry = "rate_limit_exceeded", {"Retry-After": "10"}
        return error_response(message, 429, code=code, headers=retry)
    status = 400 if isinstance(error, InputError | DocumentNotFound | CollectionNotFound) else 500
    return error_response(message, status)
