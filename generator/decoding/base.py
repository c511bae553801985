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
    """How much a model reads and writes."""

    prompt: int  # most tokens of a prompt; the model's window may allow fewer
    answer: int  # most tokens of an answer
    sampling: Sampling  # how tokens are chosen
    marginal: MarginalSettings = field(default_factory=MarginalSettings)  # for several passages
    history: int = 1000  # most tokens that earlier turns of a conversation add to a prompt
    arrangement: str = "ends"  # the order of the evidence in one prompt, a key of `ARRANGEMENTS`
    documents: bool = False  # whether one prompt has the best documents whole, as many as fit
    instruction: Instruction = USUAL  # what the model is told after the evidence, in one prompt
    examples: tuple[WorkedQuestion, ...] = ()  # worked questions that stand before the question
    picture: PictureLookup | None = None  # gives figures to a model that sees; None: it does not
    stop: threading.Event | None = None  # set by another thread, ends the answer early


@dataclass(frozen=True, slots=True)
class DecodingRun:
    """A model at work on an answer.

    What each passage gave to what is written so far is None where all stood in one prompt; told the
    whole answer, it remembers the conversation for the next question.
    """

    spans: tuple[Span, ...]  # the evidence it was shown
    context: tuple[ContextEntry, ...]  # the ledger, in the order of the hits
    pieces: Generator[str]  # the answer as it is written; closing it ends the work
    responsibility: Callable[[], Responsibility | None] = lambda: None
    remember: Callable[[Turn], None] = lambda _: None
    figures: tuple[ShownFigure, ...] = ()  # what the model was shown of them, by their numbers
    refused: tuple[str, ...] = ()  # why it was not shown others


class Decoding(Protocol):
    """A way of decoding over documents."""

    def __call__(
        self, model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
    ) -> DecodingRun:
        """Begin to answer.

        Raises:
            InvalidRequest: The question alone does not fit.
            UnsupportedModel: Passages are read apart, and the model does not take positions.
        """
        ...


def prompt_room(model: LanguageModel, limits: DecodingLimits) -> int:
    """Most tokens of one prompt."""
    return min(limits.prompt, model.window - min(limits.answer, model.window // 2))
