"""Messages that are translated where they are shown, not where they are written."""

from __future__ import annotations


def N_(message: str) -> str:  # noqa: N802 - as gettext calls it
    """A message that is translated later."""
    return message
