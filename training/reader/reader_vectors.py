"""Vectors of questions, passages and windows by a packaged encoder, to find what is near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from reader_data import Data, Meetings, Passage
from torch.nn.functional import normalize

from indexing.models.files import DEFAULT_ENCODER, encoder_weights

Vectors = NDArray[np.float32]

_LONGEST = 254  # tokens
_BUDGET = 8_192  # tokens together


def vectors(
    data: Data, meetings: Meetings, folder: Path, encoder: str = DEFAULT_ENCODER
) -> dict[str, Vectors]:
    """Of `questions`, `passages`, `queries` and `windows`; none is made twice.

    Args:
        data: In the encoder's token ids.
        meetings: In them too.
        folder: Where they are kept, of one encoder.
        encoder: Its name.
    """
    windows = [window for each in meetings.windows for window in each]
    rows = {
        "questions": [question.ids for question in (*data.train, *data.held)],
        "passages": [_tokens(passage) for passage in data.passages],
        "queries": [query.ids for query in (*meetings.train, *meetings.held)],
        "windows": [_tokens(window) for window in windows],
    }
    folder.mkdir(parents=True, exist_ok=True)
    names, made = folder / "texts.npy", folder / "vectors.npy"
    known: dict[bytes, NDArray[np.float16]] = {}
    if names.exists() and made.exists():
        known = dict(zip(map(bytes, np.load(names)), np.load(made), strict=True))
    keys = {name: list(map(_key, each)) for name, each in rows.items()}
    new = {
        key: row
        for name, each in rows.items()
        for key, row in zip(keys[name], each, strict=True)
        if key not in known
    }
    if new:
        found = _embedded(_encoder(encoder), list(new.values()), data).astype(np.float16)
        known |= dict(zip(new, found, strict=True))
        np.save(names, np.array([list(key) for key in known], np.uint8))
        np.save(made, np.stack(list(known.values())))
    return {
        name: np.stack([known[key] for key in each]).astype(np.float32)
        for name, each in keys.items()
    }


def _key(ids: Sequence[int]) -> bytes:
    return hashlib.sha256(np.array(ids, np.int32).tobytes()).digest()


def _encoder(name: str) -> Any:  # noqa: ANN401
    from transformers import AutoModel

    return AutoModel.from_pretrained(
        encoder_weights(name).folder,
        local_files_only=True,
        dtype=torch.bfloat16,
        attn_implementation="eager",
    ).eval()


def _tokens(passage: Passage) -> list[int]:
    pairs = zip(passage.labels, passage.ids, strict=True)
    return [token for label, ids in pairs for token in (*label, *ids)][:_LONGEST]


def _embedded(model: Any, rows: Sequence[Sequence[int]], data: Data) -> Vectors:  # noqa: ANN401
    """(n, d) means over tokens, of length 1; texts of about the same length together."""
    found = np.zeros((len(rows), model.config.hidden_size), np.float32)
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    while order:
        count = max(1, _BUDGET // (len(rows[order[0]]) + 2))
        taken, order = order[:count], order[count:]
        width = len(rows[taken[0]]) + 2
        ids = torch.zeros(len(taken), width, dtype=torch.long)
        for row, i in zip(ids, taken, strict=True):
            row[: len(rows[i]) + 2] = torch.tensor([data.cls, *rows[i], data.sep])
        mask = (torch.arange(width) < torch.tensor([[len(rows[i]) + 2] for i in taken])).long()
        with torch.inference_mode():
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        means = (states * mask[..., None]).sum(1)
        found[taken] = normalize(means, dim=-1).numpy()
    return found
