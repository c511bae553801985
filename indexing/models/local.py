"""Language models that are already on this machine, and can be used without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from indexing.errors import RagAppError
from indexing.models.files import PACKAGED_GENERATORS, generator_weights, model_files

_GGUF_FOLDERS = (".lmstudio/models", ".cache/lm-studio/models", ".cache/llama.cpp")
_NO_MODEL = re.compile(r"mmproj|-0000[2-9]-of-|-000[1-9]\d-of-", re.IGNORECASE)
_CAUSAL = "ForCausalLM"  # how transformers' classes of language models end


_SHARE_OF_FILES = 1.1
"""Memory that a model takes beside its weights, keys and values among it, as a share of them."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A language model on this machine."""

    name: str  # as `--generator` takes it
    # where it is: in a package, in the hub's cache, or a GGUF file somewhere else
    source: Literal["packaged", "cache", "file"]
    bytes: int = field(default=0, compare=False)  # of its weights; 0 where that is not known

    @property
    def fits(self) -> bool | None:
        """Whether it fits into the memory that is free; None where the system does not say."""
        free = free_memory()
        return None if free is None or not self.bytes else _SHARE_OF_FILES * self.bytes < free


def local_generators() -> tuple[LocalModel, ...]:
    """The packaged models that are installed, those of the hub's cache, and GGUF files, by name."""
    packaged = (
        LocalModel(name, "packaged", size)
        for name in PACKAGED_GENERATORS
        if (size := _packaged_bytes(name)) is not None
    )
    cached = sorted(set(_cached()), key=lambda one: one.name)
    return (*packaged, *cached, *gguf_files())


def gguf_files(folders: Sequence[Path] | None = None) -> tuple[LocalModel, ...]:
    """The GGUF files where other programs keep them, by path, without parts and projectors.

    Args:
        folders: Where to look; None for the caches of the hub, LM Studio and llama.cpp.
    """
    from huggingface_hub import constants

    home = Path.home()
    usual = [Path(constants.HF_HUB_CACHE), *(home / one for one in _GGUF_FOLDERS)]
    files = {
        str(file): file.stat().st_size
        for folder in (usual if folders is None else folders)
        for file in sorted(folder.rglob("*.gguf"))
        if file.is_file() and not _NO_MODEL.search(file.name)
    }
    return tuple(LocalModel(name, "file", size) for name, size in sorted(files.items()))


def free_memory() -> int | None:
    """Bytes that programs may still take without others being swapped out, as Linux says."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        kilobytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return int(kilobytes) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _packaged_bytes(name: str) -> int | None:
    """What its weights take; None where it is not installed."""
    try:
        files = model_files(generator_weights(name))
    except RagAppError:
        return None
    return sum(file.stat().st_size for file in files)


def _cached() -> Iterator[LocalModel]:
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
            yield LocalModel(one.repo_id, "cache", one.size_on_disk)


def _is_generator(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        names = [str(each) for each in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError, TypeError):
        return False
    return any(each.endswith(_CAUSAL) for each in names) and any(folder.glob("*.safetensors"))
