"""A GGUF file -> a folder of safetensors that loads in a second, converted once and kept.

Many processes may ask for the same file at once: one converts while the others wait. A run killed
half-way leaves a `.part` folder that the next one throws away; a finished folder appears whole, by
one rename.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import MissingDependency, UnsupportedModel
from indexing.models import quantization
from indexing.models.cache_dir import cache_dir
from indexing.notify import Notify

if TYPE_CHECKING:
    from filelock import BaseFileLock

log = logging.getLogger(__name__)

_LAYOUT = "bf16-2"
"""Part of every folder's name: a change in what is written below asks for a new conversion."""


def converted(source: Path, *, revision: str, notify: Notify | None = None) -> Path:
    """The folder of safetensors made from `source`; made now if it is not there.

    Args:
        source: A GGUF file of a family that transformers can read.
        revision: What pins the file's content; part of the folder's name.
        notify: Told before a conversion starts.

    Raises:
        MissingDependency: `gguf` or `accelerate` is not installed.
        UnsupportedModel: The file cannot be read as a causal language model.
    """
    from filelock import FileLock

    folder = cache_dir() / "models"
    target = folder / re.sub(r"[^\w.-]", "_", f"{source.stem}-{revision}-{_LAYOUT}")
    if target.is_dir():
        return target
    _require_readers(source)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{target}.lock")
    if _held_elsewhere(lock):
        _tell(f"waiting for another process to convert {source.name}", notify)
    with lock:
        if not target.is_dir():
            _tell(f"converting {source.name} once, into {target} (about a minute)", notify)
            _convert_whole(source, target)
    return target


def _held_elsewhere(lock: BaseFileLock) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _tell(line: str, notify: Notify | None) -> None:
    log.info(line)
    if notify:
        notify(line)


def _require_readers(source: Path) -> None:
    missing = [name for name in ("gguf", "accelerate") if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            " and ".join(missing), f"reading {source.name}", "pip install gguf accelerate"
        )


def _convert_whole(source: Path, target: Path) -> None:
    """Write beside `target`, flush to disk, rename. The caller holds the lock."""
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        _convert(source, part)
    except Exception as error:  # whatever a foreign parser raises on a damaged file
        shutil.rmtree(part, ignore_errors=True)
        raise UnsupportedModel(
            f"{source} cannot be converted ({error}); use a model with safetensors weights"
        ) from error
    for file in part.iterdir():
        _flush(file)
    part.rename(target)


def _convert(source: Path, into: Path) -> None:
    """Unpack to float32, round once to bfloat16, save with tokenizer, template and quantization."""
    import torch
    import transformers

    unpack = getattr(transformers, "GgufConfig", None)  # before it, weights were always unpacked
    options = {"quantization_config": unpack(dequantize=True)} if unpack else {}
    with silenced(), contextlib.redirect_stderr(io.StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source.parent, gguf_file=source.name, trust_remote_code=False
        )
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source.parent,
            gguf_file=source.name,
            dtype=torch.float32,
            trust_remote_code=False,
            **options,
        )
        model.to(torch.bfloat16).save_pretrained(into)
        tokenizer.save_pretrained(into)
    quantization.save(quantization.read(source), into)


def _flush(file: Path) -> None:
    with file.open("r+b") as handle:
        os.fsync(handle.fileno())


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Load without transformers' own progress bars and remarks; restored on leaving."""
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
