"""The likelihood of a given answer under teacher forcing: one forward pass, nothing generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.lm.causal_lm import CausalModel

if TYPE_CHECKING:
    from rag_app.laboratory.datasets.probes import Probe


@dataclass(frozen=True, slots=True)
class AnswerLikelihood:
    """How likely a model is to give an answer.

    Attributes:
        exact: Whether the answer's token has the highest logit at every step, so that greedy
            decoding after the lead would generate just that.
        likelihood: Mean log-probability of the answer's tokens.
    """

    exact: bool
    likelihood: float


def score_answer(model: CausalModel, probe: Probe, place: float) -> AnswerLikelihood:
    """Likelihood of a probe's answer with the evidence at a place."""
    prompt = probe.prompt(model.chat, place).ids
    ids, count = append_answer(model, prompt, probe.lead, probe.answer)
    return score_continuation(model, ids, count)


def append_answer(
    model: CausalModel, prompt: Sequence[int], lead: str, answer: str
) -> tuple[list[int], int]:
    """Token ids of prompt, lead and answer, and how many of them are the answer's."""
    before = model.chat.content(lead)
    gap = "" if lead.endswith('"') else " "
    whole = model.chat.content(lead + gap + answer)
    shared = 0
    while shared < len(before) and before[shared] == whole[shared]:
        shared += 1
    return [*prompt, *whole], len(whole) - shared


def score_continuation(model: CausalModel, ids: Sequence[int], count: int) -> AnswerLikelihood:
    """Likelihood of the last `count` of the token ids, given those before them."""
    import torch

    with torch.inference_mode():
        logits = model.model(
            input_ids=torch.tensor([ids], device=model.device),
            use_cache=False,
            logits_to_keep=count + 1,
        ).logits[0, -count - 1 : -1]
    targets = torch.tensor(ids[-count:], device=logits.device)
    log_probs = logits.float().log_softmax(-1).gather(1, targets[:, None])
    return AnswerLikelihood(bool((logits.argmax(-1) == targets).all()), float(log_probs.mean()))
