"""A cache folder of a test's own, in which models that were converted before stay converted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexing.models.cached_folder import cache_dir

MADE_ONCE = ("models", "graphs")  # derived from packaged files only
COMPILED = "compiled"  # code, which is run from a real folder only


def use_own_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set $RAG_APP_CACHE to a folder; results of other tests are not in it."""
    folder.mkdir()
    for name in MADE_ONCE:
        made = cache_dir() / name
        made.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(made, target_is_directory=True)
    (folder / COMPILED).mkdir(mode=0o700)
    for code in (cache_dir() / COMPILED).glob("*.so"):
        shutil.copy2(code, folder / COMPILED)
    monkeypatch.setenv("RAG_APP_CACHE", str(folder))
