"""For tests that compile: whether there is a compiler, and compilers that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.kernels.library import Unavailable, compiler_name


def _found() -> bool:
    try:
        return bool(compiler_name())
    except Unavailable:
        return False


with_compiler = pytest.mark.skipif(not _found(), reason="there is no C compiler")


def compiler_script(path: Path, *lines: str) -> str:
    """A shell script in the place of a compiler."""
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return str(path)
