"""A mark for tests that compile."""

from __future__ import annotations

import pytest

from generator.kernels.library import Unavailable, compiler_name


def _found() -> bool:
    try:
        return bool(compiler_name())
    except Unavailable:
        return False


with_compiler = pytest.mark.skipif(not _found(), reason="there is no C compiler")
