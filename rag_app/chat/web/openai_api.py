"""An OpenAI-compatible chat completions API whose responses carry citations.

Any client of that API works. The last message is the question. The fields `citations`, `short`
(the words that answer, if any stand out) and `rag_app` stand beside `choices`; in a stream, in the
last chunk.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from generator.answer import Answer, AnswerReady, TextDelta, as_json
from generator.prompt.follow_up import Turn
from generator.request import EVIDENCE_DOCUMENTS, AskRequest, ReadAs
from indexing.errors import Busy, DocumentNotFound, InputError, RagAppError
from indexing.filter import Filter
from rag_app.chat.question_queue import QuestionQueue

if TYPE_CHECKING:
    from generator.answer import Mode
    from rag_app.chat.application import Application

MODELS: dict[str, Mode | None] = {"rag-app": None, "rag-app-quote": "quote", "rag-app-free": "free"}

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


class Completion(BaseModel):
    """A request; fields of the API that are not listed, such as `temperature`, are ignored."""

    model: str
    messages: list[Message] = Field(min_length=1, max_length=500)
    stream: bool = False
    user: str = ""
    k: int = Field(EVIDENCE_DOCUMENTS, ge=1, le=100)
    abstain_below: float | None = Field(None, ge=0, le=1)
    documents: list[str] = []
    path: str | None = None
    speaker: str | None = None
    read_as: ReadAs = "auto"


def add(web: FastAPI, app: Application) -> None:
    """Serve /v1/models and /v1/chat/completions."""

    async def models() -> Json:
        shared = {"object": "model", "created": 0, "owned_by": "rag-app"}
        return {"object": "list", "data": [{"id": name, **shared} for name in MODELS]}

    async def complete(request: Request, body: Completion) -> JSONResponse | StreamingResponse:
        if body.model not in MODELS:
            message = f"no model {body.model!r}; there are: {', '.join(MODELS)}"
            return _error_response(message, 404, "model_not_found")
        if body.messages[-1].role != "user":
            return _error_response("the last message must be the user's question", 400)
        who = body.user or (request.client.host if request.client else "")
        try:
            ask = _ask_request(body, MODELS[body.model] or app.answer)
            reply = _Reply(body.model, app.questions, ask, f"api {who}")
            return await (reply.stream() if body.stream else reply.complete())
        except RagAppError as error:
            return _error_response(str(error), _status(error))

    async def malformed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        faults = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()]
        return _error_response("; ".join(faults), 400)

    web.add_api_route("/v1/models", models, methods=["GET"])
    web.add_api_route("/v1/chat/completions", complete, methods=["POST"], response_model=None)
    web.add_exception_handler(RequestValidationError, malformed)


def _ask_request(body: Completion, mode: Mode | None) -> AskRequest:
    where = Filter(tuple(body.documents), body.path, body.speaker)
    *before, last = body.messages
    history = tuple(_turns(before))
    return AskRequest(
        last.text,
        mode,
        body.k,
        where,
        history,
        abstain_below=body.abstain_below,
        read_as=body.read_as,
    )


def _turns(messages: Sequence[Message]) -> Iterator[Turn]:
    """Each message of the user with the answer to it, if there is one."""
    for message, following in zip_longest(messages, messages[1:]):
        if message.role == "user":
            has_answer = following is not None and following.role == "assistant"
            yield Turn(message.text, following.text if has_answer else "")


class _Reply:
    """The answer to one request, in the formats of the API."""

    def __init__(self, model: str, questions: QuestionQueue, request: AskRequest, who: str) -> None:
        self._questions, self._request, self._who = questions, request, who
        self._shared = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
        }

    async def complete(self) -> JSONResponse:
        answer = await self._questions.answer(self._request, who=self._who)
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        values = {**self._shared, "object": "chat.completion", "choices": [choice]}
        return JSONResponse({**values, **_extra_fields(answer)})

    async def stream(self) -> StreamingResponse:
        """A stream, opened once its first event is there, so that earlier errors have a status."""
        events = self._questions.astream(self._request, who=self._who)
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
            except RagAppError as error:
                yield _event({"error": _error(str(error), "server_error")})
            finally:
                await events.aclose()
            yield "data: [DONE]\n\n"

        return StreamingResponse(chunks(), media_type="text/event-stream")

    def _chunk(self, delta: Json, *, finish: str | None = None, **extra: object) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        values = {**self._shared, "object": "chat.completion.chunk", "choices": [choice]}
        return _event({**values, **extra})


def _extra_fields(answer: Answer) -> Json:
    """The fields that stand beside those of the API."""
    values = as_json(answer)
    beside = {name: values.pop(name) for name in ("citations", "short")}
    return {**beside, "rag_app": values}


def _event(values: Json) -> str:
    return f"data: {json.dumps(values, ensure_ascii=False)}\n\n"


def _status(error: RagAppError) -> int:
    if isinstance(error, Busy):
        return 429
    return 400 if isinstance(error, InputError | DocumentNotFound) else 500


def _error(message: str, kind: str) -> Json:
    return {"message": message, "type": kind, "param": None, "code": None}


def _error_response(message: str, status: int, code: str | None = None) -> JSONResponse:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {**_error(message, kind), "code": code}}, status)
