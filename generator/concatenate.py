"""One prompt with all the evidence: the simplest way to decode over documents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from generator.answer import ContextEntry, Responsibility
from generator.evidence import Offer, Span
from generator.model import CausalModel, Sampling
from generator.prompt import build, ledger
from indexing.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Marginal:
    """How an answer is made from several passages at once.

    Attributes:
        passages: Most passages that are read.
        temperature: What retrieval scores are divided by before they are shares; fitted on the
            gold turns of QMSum's training questions (docs/experiments.md).
        empty: p(z|x) of the empty document; 0 leaves it out.
        prune: Under RAG-Sequence, a passage with less posterior than this is read no further.
        thorough: RAG-Sequence answers of at most so many tokens are chosen among what each
            passage alone would have answered.
    """

    passages: int = 6
    temperature: float = 3.0
    empty: float = 0.0
    prune: float = 1e-4
    thorough: int = 24

    def __post_init__(self) -> None:
        if self.passages < 1 or self.temperature <= 0:
            raise InvalidRequest("passages must be at least 1, and temperature more than 0")
        if not 0 <= self.empty < 1 or not 0 <= self.prune < 1:
            raise InvalidRequest("empty and prune must be in [0, 1)")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a model reads and writes.

    Attributes:
        prompt: Most tokens of a prompt; the model's window may allow fewer.
        answer: Most tokens of an answer.
        sampling: How tokens are chosen.
        marginal: How several passages make one answer.
    """

    prompt: int
    answer: int
    sampling: Sampling
    marginal: Marginal = field(default_factory=Marginal)


@dataclass(frozen=True, slots=True)
class Reading:
    """A model at work on an answer.

    Attributes:
        spans: The evidence it was shown.
        context: The ledger, in the order of the hits.
        pieces: The answer as it is written; closing it ends the work.
        responsibility: What each passage gave to what is written so far; None where all of them
            stood in one prompt.
    """

    spans: tuple[Span, ...]
    context: tuple[ContextEntry, ...]
    pieces: Generator[str]
    responsibility: Callable[[], Responsibility | None] = lambda: None


def room_for(model: CausalModel, limits: Limits) -> int:
    """Most tokens of one prompt."""
    return min(limits.prompt, model.window - min(limits.answer, model.window // 2))


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
    prompt = build(question, offer, chat=model.chat, room=room_for(model, limits))
    pieces = model.stream(
        prompt.ids,
        max_new_tokens=limits.answer,
        sampling=limits.sampling,
        stop=stop,
        stops=prompt.stops,
    )
    return Reading(prompt.spans, ledger(offer.whole, prompt.spans, model.count), pieces)
