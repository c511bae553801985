"""How near a student is to its teacher, on texts that were left out of training."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import rotary
import torch
from safetensors.torch import load_file, save_file
from texts import Ids, Texts
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

LENGTHS = (32, 128, 256)
WINDOWS = 100
_TOKENS = 4096
_DEPTH = 10


class Judge:
    """Compares students with a teacher.

    Args:
        texts: With what was left out.
        folder: The teacher's weights. Its vectors are computed once, those to rank kept on disk.
        path: A JSON object is added to it, one a line, for each judgement.
        windows: How many of each length are compared.
    """

    def __init__(self, texts: Texts, folder: Path, path: Path, windows: int = WINDOWS) -> None:
        self._texts, self._folder, self._path = texts, folder, path
        self._rows = {length: self._windows(length, windows) for length in LENGTHS}

    @cached_property
    def _states(self) -> dict[int, Tensor]:
        """The teacher's token states."""
        teacher = rotary.teacher(self._folder)
        return {length: _states(teacher, rows) for length, rows in self._rows.items()}

    @cached_property
    def _teacher(self) -> tuple[dict[str, float], Tensor]:
        """How the teacher ranks."""
        kept = self._path.with_name("teacher.safetensors")
        if not kept.exists():
            vectors = self._vectors(rotary.teacher(self._folder))
            save_file(dict(zip(("passages", "questions"), vectors, strict=True)), kept)
        found = load_file(kept)
        return self._ranked(found["passages"], found["questions"])

    def judged(self, student: Any, note: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
        """The figures, with a note; also written to the file."""
        start = time.monotonic()
        was = student.training
        student.eval()
        found = {"time": time.strftime("%Y-%m-%d %H:%M:%S"), **note}
        for length, rows in self._rows.items():
            own, wanted = _states(student, rows), self._states[length]
            vectors = cosine_similarity(own.mean(1), wanted.mean(1), dim=-1)
            found[f"vector_{length}"] = round(float(vectors.mean()), 4)
            found[f"token_{length}"] = round(
                float(cosine_similarity(own, wanted, dim=-1).mean()), 4
            )
        own, vectors = self._ranked(*self._vectors(student)), self._teacher
        found |= {f"student_{name}": value for name, value in own[0].items()}
        found |= {f"teacher_{name}": value for name, value in vectors[0].items()}
        found["same_first"] = round(float((own[1] == vectors[1]).float().mean()), 4)
        found["judging"] = round(time.monotonic() - start)
        student.train(was)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        return found

    def _windows(self, length: int, count: int) -> Tensor:
        source = random.Random(length)
        streams = self._texts.held_meetings
        return torch.tensor([source.choice(streams).window(length, source) for _ in range(count)])

    def _vectors(self, model: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        """Of passages and of questions."""
        questions = [ids for ids, _ in self._texts.questions]
        return vectors_of(model, self._texts.corpus), vectors_of(model, questions)

    def _ranked(self, passages: Tensor, questions: Tensor) -> tuple[dict[str, float], Tensor]:
        """nDCG@10 and MRR of questions to their passages, in hundredths, and the first found."""
        gold = torch.tensor([at for _, at in self._texts.questions])
        scores = questions @ passages.T
        ranks = 1 + (scores > scores.gather(1, gold[:, None])).sum(dim=1).double()
        gains = (1 / (1 + ranks).log2()).where(ranks <= _DEPTH, 0)
        figures = {"ndcg": gains, "mrr": 1 / ranks, "first": (ranks == 1).double()}
        shown = {name: round(100 * float(each.mean()), 2) for name, each in figures.items()}
        return shown, scores.argmax(dim=1)


@torch.inference_mode()
def vectors_of(model: Any, rows: Sequence[Ids]) -> Tensor:  # noqa: ANN401
    """Mean of token states, unit length, (n, h); rows of one length go together."""
    vectors = torch.zeros(len(rows), model.config.hidden_size)
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    for length, group in groupby(order, key=lambda at: len(rows[at])):
        same = list(group)
        size = max(1, _TOKENS // length)
        for at in range(0, len(same), size):
            some = same[at : at + size]
            vectors[some] = _forward(model, torch.tensor([rows[i] for i in some])).mean(dim=1)
    return normalize(vectors, dim=-1)


@torch.inference_mode()
def _states(model: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
    return torch.cat(
        [_forward(model, some) for some in rows.split(max(1, _TOKENS // rows.shape[1]))]
    )


def _forward(model: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
    """In bfloat16 products, as in training."""
    with torch.autocast("cpu", torch.bfloat16):
        states: Tensor = model(rows).last_hidden_state
    return states.float()
