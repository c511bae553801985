"""The packaged encoder with other positions, distilled from it, as a file of changes.

Of a matrix the file has the difference in eight bits with a scale a row, `NAME.steps` (out, in)
int8 and `NAME.scale` (out,); what is in other coordinates than the packaged ones, or new, whole in
float16; vectors whole in float32. A folder with the whole model is made of both, and kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import MissingDependency
from indexing.models.cached_folder import cache_dir, cached_folder
from indexing.notify import Notify

if TYPE_CHECKING:
    from torch import Tensor

WINDOW = 256
"""Most tokens of the texts that variants were trained on."""

_COPIES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling",
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One kind of positions.

    Attributes:
        name: What the encoder is asked for by.
        changes: The file of changes.
        renamed: The packaged weights, float32, under the names of the variant's architecture.
        configure: Writes the model's configuration into a folder.
    """

    name: str
    changes: Path
    renamed: Callable[[Mapping[str, Tensor]], dict[str, Tensor]]
    configure: Callable[[Path], None]

    def folder(self, packaged: Path, *, revision: str, notify: Notify | None = None) -> Path:
        """A folder that `from_pretrained` reads; made now if it is not there.

        Args:
            packaged: The packaged encoder's folder.
            revision: What pins both it and `changes`; part of the folder's name.
            notify: Told before it is made.

        Raises:
            MissingDependency: transformers is too old for the architecture.
        """
        if find_spec("transformers.models.jina_embeddings_v3") is None:  # came with 5.4
            raise MissingDependency(
                "transformers 5.4", f"the encoder {self.name}", "pip install 'transformers>=5.4'"
            )
        target = cache_dir() / "models" / f"{self.name}-{revision}"
        write = partial(self._write, packaged)
        return cached_folder(target, write, doing=f"writing {self.name}", notify=notify)

    def _write(self, packaged: Path, into: Path) -> None:
        from safetensors.torch import load_file

        base = self.renamed(load_file(packaged / "model.safetensors"))
        write_model(changed(load_file(self.changes), base), packaged, into)
        self.configure(into)


def changed(changes: Mapping[str, Tensor], packaged: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The packaged weights, under a variant's names, with what a file of changes holds."""
    tensors = dict(packaged)
    for name, tensor in changes.items():
        if name.endswith(".steps"):
            owner = name.removesuffix(".steps")
            tensors[owner] = packaged[owner] + tensor.float() * changes[f"{owner}.scale"][:, None]
        elif not name.endswith(".scale"):
            tensors[name] = tensor.float()
    return tensors


def write_model(weights: Mapping[str, Tensor], packaged: Path, into: Path) -> None:
    """Write weights, and the packaged encoder's tokenizer and pooling; no configuration."""
    from safetensors.torch import save_file

    save_file(dict(weights), into / "model.safetensors", {"format": "pt"})
    for name in _COPIES:
        if (packaged / name).is_dir():
            shutil.copytree(packaged / name, into / name)
        elif (packaged / name).exists():
            shutil.copyfile(packaged / name, into / name)
