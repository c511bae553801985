"""Small models made at random, and saved as people's own would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from indexing.models.files import encoder_weights


def save_random(folder: Path, architecture: str, labels: tuple[str, ...] = ("score",)) -> Path:
    """A BERT of two narrow layers with the packaged encoder's tokenizer.

    Args:
        folder: Where to.
        architecture: A class of transformers, such as "BertForQuestionAnswering".
        labels: Of its classes.
    """
    import transformers

    config = transformers.BertConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
        initializer_range=0.3,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model: Any = getattr(transformers, architecture)(config)
    model.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder_weights().folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_reader(folder: Path) -> Path:
    """The packaged reader as a model for question answering: its encoder and its span head."""
    import transformers

    from generator.reader.cross_encoder import load_cross_encoder

    packaged = load_cross_encoder()
    model = transformers.BertForQuestionAnswering(packaged.encoder.config)
    model.bert.load_state_dict(packaged.encoder.state_dict())
    model.qa_outputs.load_state_dict(packaged.span.state_dict())
    model.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder_weights().folder)
    tokenizer.save_pretrained(folder)
    return folder
