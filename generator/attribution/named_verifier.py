"""A verifier by name: a model for inference (NLI), or for tokens that nothing supports.

Inference: premise the excerpt, hypothesis the sentence; the probability of "entailment", or of the
one class there is. Tokens (Kovács and Recski 2025, arXiv 2502.17125): excerpt and sentence are read
together, and the sentence is as supported as its least supported token. Its probabilities are
brought to the packaged verifier's scale, for which the threshold was fitted: its logit is moved so
that sentences beside themselves and beside others have the packaged verifier's means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.scales.cosine_scale import Level, measured_levels
from generator.scales.probe_texts import ANSWERS
from indexing.errors import UnsupportedModel
from indexing.models.part import SEQUENCES, TOKENS, NamedPart, Part

Probabilities = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""A sentence and excerpts to the probability (n,) that each supports it."""

PACKAGED = Level(-5.622, 1.860)
"""Mean logits of the packaged verifier, as `measure` gives them."""

_LONGEST = 512  # tokens
_LEAST = 1e-6  # of a probability whose logit is taken
_UNSUPPORTED = ("hallucinat", "unsupported", "label_1")


class NamedVerifier(NamedPart):
    """Verifies with a model of a name; use as `Verifier`."""

    _purpose = "verifier"
    _kinds: ClassVar = {SEQUENCES: "a model for inference", TOKENS: "one for unsupported tokens"}

    def _check(self, part: Part) -> None:
        _class(part)

    @cached_property
    def _level(self) -> Level:
        return level_of(self._part.digest, self.raw_probabilities)

    def probabilities(self, sentence: str, excerpts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) the probability that each excerpt supports the sentence, on the packaged scale.

        Raises:
            ModelNotFound: There is no such model here.
            UnsupportedModel: It is made for something else.
            ModelError: It cannot be loaded.
        """
        with self._loading:
            level = self._level
        moved = level.moved(_logits(self.raw_probabilities(sentence, excerpts)), PACKAGED)
        return np.asarray(1 / (1 + np.exp(-np.clip(moved, -30, 30))), np.float32)

    def raw_probabilities(self, sentence: str, excerpts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) as the model has them."""
        import torch

        if not excerpts:
            return np.zeros(0, np.float32)
        part = self._part
        inputs = part.tokenizer(
            list(excerpts),
            [sentence] * len(excerpts),
            truncation="only_first",
            max_length=min(part.longest, _LONGEST),
            padding=True,
            return_tensors="pt",
        )
        inside = [[each == 1 for each in inputs.sequence_ids(row)] for row in range(len(excerpts))]
        with torch.inference_mode():
            logits = part.model(
                **{key: each.to(part.model.device) for key, each in inputs.items()}
            ).logits.float()
        wanted = _class(part)
        single = logits.shape[-1] == 1
        likely = logits.sigmoid() if single else logits.softmax(-1)
        of_class = likely[..., wanted].cpu().numpy()
        if part.kind == SEQUENCES:
            return np.asarray(of_class, np.float32)
        worst = [row[where].max(initial=0.0) for row, where in zip(of_class, inside, strict=True)]
        return np.asarray([1 - each for each in worst], np.float32)


def _class(part: Part) -> int:
    """The class of "supported", or for tokens that of "unsupported".

    Raises:
        UnsupportedModel: Its labels do not say which that is.
    """
    labels = part.labels
    if len(labels) == 1:
        return 0
    wanted = ("entail", "support") if part.kind == SEQUENCES else _UNSUPPORTED
    for number, label in enumerate(labels):
        if label.startswith(wanted) and not label.startswith("entailment_not"):
            return number
    raise UnsupportedModel(
        f"{part.weights.name} is no verifier: of its labels ({', '.join(labels)}) none is "
        f"{' or '.join(wanted)}...; name a model for inference (NLI)"
    )


def _logits(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    bounded = np.clip(probabilities.astype(np.float64), _LEAST, 1 - _LEAST)
    return np.asarray(np.log(bounded / (1 - bounded)), np.float32)


def measure(probabilities: Probabilities) -> Level:
    """Mean logits of sentences beside a text that says them, and beside one that does not."""
    texts = [answer for _, answer in ANSWERS]
    right, wrong = [], []
    for number, text in enumerate(texts):
        one, two, three = (texts[(number + step) % len(texts)] for step in (3, 7, 11))
        with_, without = _logits(
            probabilities(text, [f"{one} {text} {two}", f"{one} {three} {two}"])
        )
        right.append(with_)
        wrong.append(without)
    return Level(float(np.mean(wrong)), float(np.mean(right)))


def level_of(digest: str, probabilities: Probabilities) -> Level:
    """The level of a verifier, measured once and kept on this machine."""
    return measured_levels(
        "verifier", [digest, ANSWERS], lambda: {"logits": asdict(measure(probabilities))}
    )["logits"]
