"""One prompt with all the evidence: the simplest way to decode over documents."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass

from generator.answer import ContextEntry
from generator.evidence import Offer, Span
from generator.model import CausalModel, Sampling
from generator.prompt import build, ledger


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a model reads and writes.

    Attributes:
        prompt: Most tokens of a prompt; the model's window may allow fewer.
        answer: Most tokens of an answer.
        sampling: How tokens are chosen.
    """

    prompt: int
    answer: int
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Reading:
    """A model at work on an answer.

    Attributes:
        spans: The evidence it was shown.
        context: The ledger, in the order of the hits.
        pieces: The answer as it is written; closing it ends the work.
    """

    spans: tuple[Span, ...]
    context: tuple[ContextEntry, ...]
    pieces: Generator[str]


def concatenate(
    model: CausalModel,
    question: str,
    offer: Offer,
    *,
    limits: Limits,
    stop: threading.Event | None = None,
) -> Reading:
    """Read all the evidence at once and write the answer.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    room = min(limits.prompt, model.window - min(limits.answer, model.window // 2))
    prompt = build(question, offer, chat=model.chat, room=room)
    pieces = model.stream(
        prompt.ids,
        max_new_tokens=limits.answer,
        sampling=limits.sampling,
        stop=stop,
        stops=prompt.stops,
    )
    return Reading(prompt.spans, ledger(offer.whole, prompt.spans, model.count), pieces)
