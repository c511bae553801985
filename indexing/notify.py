"""How a person is told that something takes long."""

from __future__ import annotations

from collections.abc import Callable

Notify = Callable[[str], None]
"""Called with one line of text."""
