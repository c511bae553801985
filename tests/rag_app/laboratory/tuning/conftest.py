"""The tiny models of the extension methods' tests, whose positions are tuned here."""

from __future__ import annotations

from tests.indexing.extension.conftest import _one_thread, models

__all__ = ["_one_thread", "models"]
