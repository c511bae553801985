"""The folder of files that are derived from others."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """$RAG_APP_CACHE, else the user's cache folder. It need not exist yet."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("RAG_APP_CACHE") or user_cache_dir("rag-app"))
