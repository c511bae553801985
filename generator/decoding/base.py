"""The interface of every way of decoding over documents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from generator.answer import ContextEntry, Responsibility
from generator.evidence import Evidence, Span
from generator.lm.sampling import Sampling
from generator.prompt.builder import USUAL, Instruction
from generator.prompt.follow_up import Turn
from generator.prompt.pictures import PictureLookup, ShownFigure
from generator.prompt.worked_question import WorkedQuestion
from generator.request import AskRequest
from indexing.errors import InvalidRequest

if TYPE_CHECKING:
    from generator.lm.causal_lm import CausalModel
    from generator.lm.language_model import LanguageModel


@dataclass(frozen=True, slots=True)
class MarginalSettings:
    """How an answer is made from several passages at once.

    Attributes:
        passages: Most passages that are read.
        temperature: What retrieval scores are divided by before they are shares; fitted on the
            gold turns of QMSum's training questions (docs/notebook/experiments.md).
        prune: Under RAG-Sequence, a passage with less posterior than this is read no further.
        thorough: RAG-Sequence answers of at most so many tokens are chosen among what each
            passage alone would have answered.
    """

    passages: int = 6
    temperature: float = 3.0
    prune: float = 1e-4
    thorough: int = 24

    def __post_init__(self) -> None:
        if self.passages < 1 or self.temperature <= 0:
            raise InvalidRequest("passages must be at least 1, and temperature more than 0")
        if not 0 <= self.prune < 1:
            raise InvalidRequest("prune must be in [0, 1)")


@dataclass(frozen=True, slots=True)
class DecodingLimits:
    """How much a model reads and writes.

    Attributes:
        prompt: Most tokens of a prompt; the model's window may allow fewer.
        answer: Most tokens of an answer.
        sampling: How tokens are chosen.
        marginal: How several passages make one answer.
        history: Most tokens that earlier turns of a conversation add to a prompt.
        arrangement: The order of the evidence in one prompt, a key of `ARRANGEMENTS`.
        documents: Whether one prompt has the best documents whole, as many as fit, instead of the
            best passages.
        instruction: What the model is told after the evidence, in one prompt.
        examples: Worked questions that stand before the question.
        picture: Gives figures to a model that sees; None for one that does not.
        stop: Set by another thread, ends the answer early.
    """

    prompt: int
    answer: int
    sampling: Sampling
    marginal: MarginalSettings = field(default_factory=MarginalSettings)
    history: int = 1000
    arrangement: str = "ends"
    documents: bool = False
    instruction: Instruction = USUAL
    examples: tuple[WorkedQuestion, ...] = ()
    picture: PictureLookup | None = None
    stop: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class DecodingRun:
    """A model at work on an answer.

    Attributes:
        spans: The evidence it was shown.
        context: The ledger, in the order of the hits.
        pieces: The answer as it is written; closing it ends the work.
        responsibility: What each passage gave to what is written so far; None where all of them
            stood in one prompt.
        remember: Told the whole answer, keeps the conversation for the next question.
        figures: What the model was shown of them, by their numbers.
        refused: Why it was not shown others.
    """

    spans: tuple[Span, ...]
    context: tuple[ContextEntry, ...]
    pieces: Generator[str]
    responsibility: Callable[[], Responsibility | None] = lambda: None
    remember: Callable[[Turn], None] = lambda _: None
    figures: tuple[ShownFigure, ...] = ()
    refused: tuple[str, ...] = ()


class Decoding(Protocol):
    """A way of decoding over documents."""

    def __call__(
        self, model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
    ) -> DecodingRun:
        """Begin to answer."""
        ...


def prompt_room(model: LanguageModel, limits: DecodingLimits) -> int:
    """Most tokens of one prompt."""
    return min(limits.prompt, model.window - min(limits.answer, model.window // 2))
