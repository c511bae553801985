"""A GGUF file -> a folder of safetensors that loads in a second, converted once and kept."""

from __future__ import annotations

import contextlib
import io
import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from indexing.errors import MissingDependency, UnsupportedModel
from indexing.message import Notify
from indexing.models.cached_folder import cache_dir, cached_folder
from indexing.models.formats import quantization
from indexing.models.loading import loading

_LAYOUT = "bf16-2"
"""Part of every folder's name: a change in what is written below asks for a new conversion."""


def converted(source: Path, *, revision: str, notify: Notify | None = None) -> Path:
    """The folder of safetensors made from `source`; made now if it is not there.

    Raises:
        MissingDependency: `gguf` or `accelerate` is not installed.
        UnsupportedModel: The file cannot be read as a causal language model.
    """
    name = re.sub(r"[^\w.-]", "_", f"{source.stem}-{revision}-{_LAYOUT}")
    target = cache_dir() / "models" / name
    if not target.is_dir():
        _require_readers(source)
    convert = partial(_convert_whole, source)
    return cached_folder(target, convert, doing=f"converting {source.name}", notify=notify)


def _require_readers(source: Path) -> None:
    missing = [name for name in ("gguf", "accelerate") if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            " and ".join(missing), f"reading {source.name}", "pip install gguf accelerate"
        )


def _convert_whole(source: Path, into: Path) -> None:
    try:
        _convert(source, into)
    except Exception as error:  # whatever a foreign parser raises on a damaged file
        raise UnsupportedModel(
            f"{source} cannot be converted ({error}); use a model with safetensors weights"
        ) from error


def _convert(source: Path, into: Path) -> None:
    """Unpack to float32, round once to bfloat16, save with tokenizer, template and quantization."""
    import torch

    with loading(), contextlib.redirect_stderr(io.StringIO()):
        import transformers

        unpack = getattr(transformers, "GgufConfig", None)  # before, weights were always unpacked
        options = {"quantization_config": unpack(dequantize=True)} if unpack else {}
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
