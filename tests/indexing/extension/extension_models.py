"""Small random models of every family, saved and loaded as sentence-transformers does."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WINDOW = 32
"""L_o of every tiny model, special tokens included."""

WORDS = [f"w{number}" for number in range(200)]
SPECIAL = {"<pad>": 1, "<s>": 0, "</s>": 2, "<unk>": 3}

_SIZE = {
    "vocab_size": len(WORDS) + 4,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "initializer_range": 0.25,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
_GROUPED = {**_SIZE, "num_key_value_heads": 2, "max_position_embeddings": WINDOW}
_MIXED = ["full_attention", "sliding_attention"]


def _config(name: str, **settings: object) -> transformers.PreTrainedConfig:
    return getattr(transformers, name)(**settings)


CONFIGS: dict[str, Callable[[], transformers.PreTrainedConfig]] = {
    "bert": lambda: _config("BertConfig", **_SIZE, max_position_embeddings=WINDOW),
    "roberta": lambda: _config("RobertaConfig", **_SIZE, max_position_embeddings=WINDOW + 2),
    "xlm-roberta": lambda: _config("XLMRobertaConfig", **_SIZE, max_position_embeddings=WINDOW + 2),
    "mpnet": lambda: _config("MPNetConfig", **_SIZE, max_position_embeddings=WINDOW + 2),
    "distilbert": lambda: _config(
        "DistilBertConfig",
        vocab_size=_SIZE["vocab_size"],
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
        initializer_range=0.25,
        pad_token_id=1,
        max_position_embeddings=WINDOW,
    ),
    "modernbert": lambda: _config(
        "ModernBertConfig",
        **_SIZE,
        cls_token_id=0,
        sep_token_id=2,
        max_position_embeddings=WINDOW,
        layer_types=_MIXED,
        local_attention=16,
        initializer_cutoff_factor=3.0,
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 300.0},
        },
    ),
    "nomic_bert": lambda: _config(
        "NomicBertConfig", **_SIZE, max_position_embeddings=WINDOW, rope_parameters=_rope()
    ),
    "llama": lambda: _config("LlamaConfig", **_GROUPED, rope_parameters=_rope()),
    "mistral": lambda: _config(
        "MistralConfig", **_GROUPED, sliding_window=None, rope_parameters=_rope()
    ),
    "qwen2": lambda: _config(
        "Qwen2Config",
        **_GROUPED,
        use_sliding_window=True,
        sliding_window=8,
        layer_types=_MIXED,
        rope_parameters=_rope(),
    ),
    "qwen3": lambda: _config("Qwen3Config", **_GROUPED, head_dim=16, rope_parameters=_rope()),
}

ABSOLUTE = ["bert", "roberta", "xlm-roberta", "mpnet", "distilbert"]
ROTARY = ["modernbert", "nomic_bert", "llama", "mistral", "qwen2", "qwen3"]
CAUSAL = ["llama", "mistral", "qwen2", "qwen3"]


def _rope() -> dict[str, object]:
    return {"rope_type": "default", "rope_theta": 2000.0}


def build(family: str, folder: Path, *, config: object = None) -> SentenceTransformer:
    """A tiny model of a family, by way of the disk: mean pooling, or the last token if causal."""
    torch.manual_seed(sum(map(ord, family)))
    inner = transformers.AutoModel.from_config(config or CONFIGS[family]())
    for parameter in inner.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    inner.save_pretrained(folder / "inner")
    tokenizer(causal=family in CAUSAL).save_pretrained(folder / "inner")
    reader = Transformer(str(folder / "inner"))
    pooling = Pooling(32, "lasttoken" if family in CAUSAL else "mean")
    SentenceTransformer(modules=[reader, pooling, Normalize()], device="cpu").save(
        str(folder / "whole"), create_model_card=False
    )
    model = SentenceTransformer(str(folder / "whole"), device="cpu").eval()
    model[0].processor = tokenizer(causal=family in CAUSAL)  # Qwen2 loads one of its own kind
    return model


def tokenizer(*, causal: bool = False) -> transformers.PreTrainedTokenizerFast:
    """One token a word; a start and an end token, or only an end token."""
    vocabulary = {**SPECIAL, **{word: 4 + index for index, word in enumerate(WORDS)}}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>" if causal else "<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        model_max_length=WINDOW,
        model_input_names=["input_ids", "attention_mask"],
    )


def text(words: int, seed: int = 0) -> str:
    """Random words; with the special tokens one or two tokens more than words."""
    source = random.Random(1000 * words + seed)
    return " ".join(source.choice(WORDS) for _ in range(words))


def ids_of(model: SentenceTransformer, words: str) -> list[int]:
    """Token ids with special tokens, uncut."""
    return list(model.tokenizer(words, truncation=False)["input_ids"])


def states(model: SentenceTransformer, texts: list[str]) -> list[torch.Tensor]:
    """Last hidden states of each text's real tokens, encoded as one padded batch."""
    with torch.inference_mode():
        features = model[0](model.preprocess(texts))
    mask = features["attention_mask"].bool()
    return [row[real] for row, real in zip(features["token_embeddings"], mask, strict=True)]
