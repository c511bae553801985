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
from indexing.message import Notify
from indexing.models.cached_folder import cache_dir, cached_folder

if TYPE_CHECKING:
    from torch import Tensor

WINDOW = 256
"""Most tokens of the texts that variants were trained on."""

_TABLE = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_UNUSED = {_TABLE, "embeddings.position_ids"}
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
    """One kind of positions."""

    name: str  # what the encoder is asked for by
    changes: Path  # the file of changes
    # what the modules of a layer are called in the variant's architecture, and what else it has but
    # embeddings
    names: Mapping[str, str]
    configure: Callable[[Path], None]  # writes the model's configuration into a folder

    def folder(self, packaged: Path, *, revision: str, notify: Notify | None = None) -> Path:
        """A folder that `from_pretrained` reads; made now if it is not there.

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

    def renamed(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """BERT's weights, float32, under the names of the variant's architecture.

        The mean of the first 256 rows of the table of positions is added to the token types, which
        are added to every token: so embeddings keep the mean that the layers are used to.
        """
        tensors = {}
        for name, tensor in weights.items():
            new = name
            if name.startswith("encoder.layer."):
                _, _, number, rest = name.split(".", 3)
                module, _, kind = rest.rpartition(".")
                new = f"layers.{number}.{self.names[module]}.{kind}"
            elif not name.startswith("embeddings.") and name not in self.names:
                continue
            if new not in _UNUSED:
                tensors[new] = tensor.detach().float().clone()
        tensors[_TYPES] += weights[_TABLE][:WINDOW].float().mean(dim=0)
        return tensors

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
