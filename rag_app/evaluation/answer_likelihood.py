"""How likely a model finds an answer that is put into its mouth: one pass, nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.lm.causal_lm import CausalModel

if TYPE_CHECKING:
    from rag_app.datasets.probes import Probe


@dataclass(frozen=True, slots=True)
class Forced:
    """What a model thinks of an answer.

    Attributes:
        exact: Whether the likeliest token is the answer's at every step, so that the model, made
            to begin with the lead, would write just that.
        likelihood: Mean logarithm of the probability of the answer's tokens.
    """

    exact: bool
    likelihood: float


def forced(model: CausalModel, probe: Probe, place: float) -> Forced:
    """The answer of a probe with its evidence at a place."""
    prompt = probe.prompt(model.chat, place).ids
    ids, count = continued(model, prompt, probe.lead, probe.answer)
    return scored(model, ids, count)


def continued(
    model: CausalModel, prompt: Sequence[int], lead: str, answer: str
) -> tuple[list[int], int]:
    """The prompt with the answer, and how many of its tokens are the answer's own."""
    before = model.chat.content(lead)
    gap = "" if lead.endswith('"') else " "
    whole = model.chat.content(lead + gap + answer)
    shared = 0
    while shared < len(before) and before[shared] == whole[shared]:
        shared += 1
    return [*prompt, *whole], len(whole) - shared


def scored(model: CausalModel, ids: Sequence[int], count: int) -> Forced:
    """The last `count` tokens, given those before them."""
    import torch

    with torch.inference_mode():
        logits = model.model(
            input_ids=torch.tensor([ids], device=model.device),
            use_cache=False,
            logits_to_keep=count + 1,
        ).logits[0, -count - 1 : -1]
    wanted = torch.tensor(ids[-count:], device=logits.device)
    chances = logits.float().log_softmax(-1).gather(1, wanted[:, None])
    return Forced(bool((logits.argmax(-1) == wanted).all()), float(chances.mean()))
