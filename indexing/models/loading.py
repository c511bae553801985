"""Models are loaded one at a time, and without their libraries' output."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOADING = threading.RLock()


@contextmanager
def loading() -> Iterator[None]:
    """Hold this while something is imported from transformers, and while a model is made.

    Both are done to the whole process. The library's module replaces itself at the end of its
    import, and while it makes a model it changes PyTorch's default dtype and methods of its own
    classes: of two models that are made at the same time, one has weights of the other's dtype, or
    none, and what was changed can stay so. Its progress bars and remarks are off meanwhile.
    """
    with _LOADING:
        from transformers.utils import logging as remarks

        bars, level = remarks.is_progress_bar_enabled(), remarks.get_verbosity()
        remarks.disable_progress_bar()
        remarks.set_verbosity_error()
        try:
            yield
        finally:
            remarks.set_verbosity(level)
            if bars:
                remarks.enable_progress_bar()
