"""The refusal of what needs the inside of a model, for one behind a server."""

from __future__ import annotations

from indexing.errors import InvalidRequest


def needs_internals(what: str, name: str, instead: str) -> InvalidRequest:
    """The error for what cannot be done through a server, and what to use in its place."""
    return InvalidRequest(
        f"{what} needs the inside of a model, and {name} is behind a server, which gives text "
        f"only; use {instead}, or a model on this machine"
    )
