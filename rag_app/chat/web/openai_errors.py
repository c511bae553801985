"""Errors in the shape of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

API = "/v1"


def error_values(
    message: str, status: int, *, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The body of an error; its type follows from the status."""
    kinds = {429: "requests"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error_response(
    message: str,
    status: int,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """A whole error response."""
    values = error_values(message, status, code=code, param=param)
    return JSONResponse(values, status, headers=headers)


def is_of_api(path: str) -> bool:
    """Whether a path is one of the API's."""
    return path == API or path.startswith(f"{API}/")
