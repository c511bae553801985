"""Logits in, a token id out: greedy decoding, temperature and top-p, without repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.errors import InvalidRequest

if TYPE_CHECKING:
    import torch

    from generator.lm.word_constraint import WordConstraint


_MOST_TRIED = 500  # tokens, before an answer that can go on with no allowed one ends


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; the default always takes the likeliest."""

    temperature: float = 0.0  # 0 for the likeliest token; higher is more varied
    top_p: float = 1.0  # samples among the likeliest tokens that hold this share of the probability
    seed: int = 0  # equal seeds give equal answers on one machine
    no_repeat: int = 0  # no run of so many tokens is written twice in one answer; 0 allows it

    def __post_init__(self) -> None:
        if self.no_repeat < 0 or self.no_repeat == 1:
            raise InvalidRequest("no_repeat must be 0, or at least 2 tokens")
        if self.temperature < 0 or not 0 < self.top_p <= 1:
            raise InvalidRequest("temperature must be 0 or more, and top_p in (0, 1]")

    def __str__(self) -> str:
        """In a few words."""
        if self.temperature == 0:
            return "0 (the likeliest token)"
        return f"{self.temperature:g} (top-p {self.top_p:g}, seed {self.seed})"


class Sampler:
    """The next token of one answer, by the logits of all, float32 (V,)."""

    def __init__(
        self, sampling: Sampling, device: torch.device, *, constraint: WordConstraint | None = None
    ) -> None:
        import torch

        self.sampling, self.constraint = sampling, constraint
        self.random = torch.Generator(device).manual_seed(sampling.seed)
        self._written: list[int] = []

    def __call__(self, logits: torch.Tensor) -> int:
        """A token id by (V,) logits or log probabilities."""
        if repeated := repeated_tokens(self._written, self.sampling.no_repeat):
            logits = logits.clone()
            logits[sorted(repeated)] = float("-inf")
        token = self._choose(logits)
        if self.constraint is not None:
            token = self._constrained(token, logits.clone(), self.constraint)
            self.constraint.push(token)
        self._written.append(token)
        return token

    def _constrained(self, token: int, logits: torch.Tensor, constraint: WordConstraint) -> int:
        """The token or the next best one that is allowed; the end of the answer where none is."""
        for _ in range(_MOST_TRIED):
            if constraint.allows(token):
                return token
            logits[token] = float("-inf")
            token = self._choose(logits)
        constraint.drop_unfinished()
        return min(constraint.eos_token_ids)

    def _choose(self, logits: torch.Tensor) -> int:
        if self.sampling.temperature == 0:
            # Not PyTorch's: its threads would wait busily through the next token.
            return int(logits.cpu().numpy().argmax())
        shares, order = (logits / self.sampling.temperature).softmax(-1).sort(descending=True)
        shares[shares.cumsum(0) - shares >= self.sampling.top_p] = 0  # the first always stays
        return int(order[shares.multinomial(1, generator=self.random)])


def repeated_tokens(written: Sequence[int], length: int) -> set[int]:
    """The tokens that would write a run of `length` tokens for the second time; none for 0."""
    if not length or len(written) < length:
        return set()
    last = list(written[len(written) - length + 1 :])
    starts = range(len(written) - length + 1)
    return {written[i + length - 1] for i in starts if list(written[i : i + length - 1]) == last}
