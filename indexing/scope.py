"""Who reads a corpus, and so which collections are there to be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """What somebody may read: nothing else is there for them.

    There is no default: whoever reads says for whom, so that a forgotten scope is a type error.

    Attributes:
        login: A login name, which may read its own collections, shared ones, and those without an
            owner; None for the owner of this machine, who may read everything.
    """

    login: str | None


OWNER = Scope(None)
"""Of the owner of this machine, and of a server on it where nobody logs in."""
