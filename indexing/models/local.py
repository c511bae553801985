"""Language models that are already on this machine, and can be used without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexing.errors import RagAppError
from indexing.models.files import PACKAGED_GENERATORS, generator_weights

_CAUSAL = "ForCausalLM"  # how transformers' classes of language models end


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A language model on this machine.

    Attributes:
        name: As `--generator` takes it.
        source: Where it is: in a package, or in the hub's cache.
    """

    name: str
    source: Literal["packaged", "cache"]


def local_generators() -> tuple[LocalModel, ...]:
    """The packaged models that are installed, then those of the hub's cache, by name."""
    packaged = (LocalModel(name, "packaged") for name in PACKAGED_GENERATORS if _is_here(name))
    return (*packaged, *(LocalModel(name, "cache") for name in sorted(set(_cached()))))


def _is_here(name: str) -> bool:
    try:
        generator_weights(name)
    except RagAppError:
        return False
    return True


def _cached() -> Iterator[str]:
    """Repositories of the cache whose latest snapshot holds a language model as safetensors."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except (CacheNotFound, OSError, ValueError):
        return
    for one in repositories:
        if one.repo_type == "model" and any(
            _is_generator(each.snapshot_path) for each in one.revisions if "main" in each.refs
        ):
            yield one.repo_id


def _is_generator(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        names = [str(each) for each in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError, TypeError):
        return False
    return any(each.endswith(_CAUSAL) for each in names) and any(folder.glob("*.safetensors"))
