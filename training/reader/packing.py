"""Everything that a reader is trained on, put together once and kept in one file.

Questions and texts in token ids, of each question the forty passages nearest to it by the
encoder, and its tokenizer. The file is pickled: read none that you did not write.
"""

from __future__ import annotations

import lzma
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from everyday import join
from natural import join_natural
from numpy.typing import NDArray
from reader_data import Data, Meetings, Passage, load_meetings, load_passages
from reader_examples import order_windows
from reader_vectors import vectors
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from indexing.models.files import encoder_weights

NEAREST = 40
PACK = "pack.xz"


@dataclass(frozen=True, slots=True)
class Pack:
    """What a reader is trained on.

    Attributes:
        data: Questions on passages.
        meetings: Questions on meetings.
        near: (questions to train on, 40) numbers of the nearest passages.
        tokenizer: Its file's text.
    """

    data: Data
    meetings: Meetings
    near: NDArray[np.int32]
    tokenizer: str

    def encoder(self) -> Callable[[str], list[int]]:
        """Gives the token ids of a question that was changed."""
        tokenizer = Tokenizer.from_str(self.tokenizer)
        return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)

    @classmethod
    def of(cls, reading: Path, qmsum: Path, folder: Path, encoder: str) -> Pack:
        """What lies in the folder, of one encoder; put together there where nothing does."""
        path = folder / PACK
        if path.exists():
            with lzma.open(path, "rb") as file:
                found = pickle.load(file)
            assert isinstance(found, cls)
            return found
        made = _packed(reading, qmsum, folder, encoder)
        with lzma.open(path, "wb", preset=2) as file:
            pickle.dump(made, file, protocol=5)
        return made


def _packed(reading: Path, qmsum: Path, folder: Path, encoder: str) -> Pack:
    model = encoder_weights(encoder).folder
    tokenizer: Any = AutoTokenizer.from_pretrained(model, local_files_only=True)
    data, shown = load_passages(reading, tokenizer), load_meetings(qmsum, tokenizer)
    for more in (join, join_natural):
        data, shown = more(data, shown, qmsum, tokenizer)
    found = vectors(data, shown, folder / "vectors", encoder)
    order_windows(shown, found["queries"], found["windows"])
    asked = found["questions"][: len(data.train)]
    near = [
        np.argsort(-(found["passages"] @ each), kind="stable")[:NEAREST].astype(np.int32)
        for each in asked
    ]
    text = (model / "tokenizer.json").read_text("utf-8")
    slim = replace(data, passages=[_slim(each) for each in data.passages])
    bare = [[replace(_slim(one), text="") for one in each] for each in shown.windows]
    return Pack(slim, replace(shown, windows=bare), np.stack(near), text)


def _slim(passage: Passage) -> Passage:
    """Of the characters of its tokens only where each sentence begins and ends."""
    ends = tuple([(each[0][0], each[-1][1])] if each else [] for each in passage.spans)
    return replace(passage, spans=ends)
