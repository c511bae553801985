"""Limits of one request to the server: by the page, the API and the tools."""

from __future__ import annotations

MAX_QUESTION = 8_000  # characters of a question or a query
MAX_HISTORY = 100_000  # characters of the messages before a question
MAX_BODY = 2 << 20  # bytes of a request that is no upload
