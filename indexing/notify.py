"""The callback for messages about anything that takes long."""

from __future__ import annotations

from collections.abc import Callable

Notify = Callable[[str], None]
"""Called with one line of text."""
