"""`minilm-rope`: the packaged encoder with rotary instead of absolute positions, of our own.

MiniLM is a BERT: layer norms after each block, biases everywhere, exact GELU. The one architecture
of transformers that is this with rotary positions (RoFormer: Su et al., arXiv 2104.09864) and no
table of positions is Jina Embeddings v3 (Sturua et al., arXiv 2409.10173); every other weight of
the packaged encoder has its place there. It was distilled from the packaged encoder on texts of at
most 256 tokens (`training/rope`; docs/context-extension.md has the figures); what that changed lies
beside this file, and a folder with the whole model is made of both and kept.

Of a matrix the file has the difference in eight bits with a scale a row, `NAME.steps` (out, in)
int8 and `NAME.scale` (out,); queries and keys, which are in other coordinates than the packaged
ones, whole in float16; vectors whole in float32.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import MissingDependency
from indexing.models.cache_dir import cache_dir
from indexing.models.kept_folder import kept_folder
from indexing.models.runtime import IMPORTING
from indexing.notify import Notify

if TYPE_CHECKING:
    from torch import Tensor

NAME = "minilm-rope"
CHANGES = Path(__file__).with_name("rotary_minilm.safetensors")
WINDOW = 256
"""Most tokens of the texts that it was trained on."""
LAYERS, HEADS, BASE = 6, 12, 10_000.0

_TABLE = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_NAMES = {
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.o_proj",
    "attention.output.LayerNorm": "post_attention_layernorm",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
    "output.LayerNorm": "post_mlp_layernorm",
}
_COPIES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling",
)


def rotary_folder(packaged: Path, *, revision: str, notify: Notify | None = None) -> Path:
    """A folder that `from_pretrained` and sentence-transformers read; made now if it is not there.

    Args:
        packaged: The packaged encoder's folder.
        revision: What pins both it and `CHANGES`; part of the folder's name.
        notify: Told before it is made.

    Raises:
        MissingDependency: transformers is too old for the architecture.
    """
    if find_spec("transformers.models.jina_embeddings_v3") is None:
        raise MissingDependency(
            "transformers 5.4", f"the encoder {NAME}", "pip install 'transformers>=5.4'"
        )
    target = cache_dir() / "models" / f"{NAME}-{revision}"
    return kept_folder(target, partial(_write, packaged), doing=f"writing {NAME}", notify=notify)


def _write(packaged: Path, into: Path) -> None:
    from safetensors.torch import load_file

    write_model(
        changed(load_file(CHANGES), renamed(load_file(packaged / "model.safetensors"))),
        packaged,
        into,
    )
    configuration().save_pretrained(into)


def write_model(weights: Mapping[str, Tensor], packaged: Path, into: Path) -> None:
    """Write weights, and the packaged encoder's tokenizer and pooling; no configuration."""
    from safetensors.torch import save_file

    save_file(dict(weights), into / "model.safetensors", {"format": "pt"})
    for name in _COPIES:
        if (packaged / name).is_dir():
            shutil.copytree(packaged / name, into / name)
        elif (packaged / name).exists():
            shutil.copyfile(packaged / name, into / name)


def configuration() -> Any:  # noqa: ANN401
    """The configuration of a rotary MiniLM, without dropout."""
    with IMPORTING:
        from transformers import JinaEmbeddingsV3Config

    return JinaEmbeddingsV3Config(
        architectures=["JinaEmbeddingsV3Model"],
        vocab_size=30_522,
        hidden_size=384,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=1536,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=WINDOW,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": BASE},
    )


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights, float32, under the rotary architecture's names.

    The mean of the first 256 rows of the table of positions is added to the token types, which are
    added to every token: so embeddings keep the mean that the layers are used to.
    """
    found = {}
    for name, tensor in weights.items():
        new = name
        if name.startswith("encoder.layer."):
            _, _, number, rest = name.split(".", 3)
            module, _, kind = rest.rpartition(".")
            new = f"layers.{number}.{_NAMES[module]}.{kind}"
        if new not in {_TABLE, "embeddings.position_ids"}:
            found[new] = tensor.detach().float().clone()
    found[_TYPES] += weights[_TABLE][:WINDOW].float().mean(dim=0)
    return found


def changed(changes: Mapping[str, Tensor], packaged: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The packaged weights, as `renamed` gives them, with what a file of changes holds."""
    found = dict(packaged)
    for name, tensor in changes.items():
        if name.endswith(".steps"):
            owner = name.removesuffix(".steps")
            found[owner] = packaged[owner] + tensor.float() * changes[f"{owner}.scale"][:, None]
        elif not name.endswith(".scale"):
            found[name] = tensor.float()
    return found
