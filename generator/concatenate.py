"""One prompt with all the evidence: the simplest way to decode over documents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from generator.answer import ContextEntry, Responsibility
from generator.conversation import Said, Turn
from generator.evidence import Offer, Span
from generator.model import CausalModel, Sampling
from generator.prompt import Prompt, build, continued, conversation, ledger
from indexing.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Marginal:
    """How an answer is made from several passages at once.

    Attributes:
        passages: Most passages that are read.
        temperature: What retrieval scores are divided by before they are shares; fitted on the
            gold turns of QMSum's training questions (`rag-app evaluate temperature`).
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
        history: Most tokens that earlier turns of a conversation add to a prompt.
        arrangement: The order of the evidence in one prompt, a key of `ARRANGEMENTS`.
    """

    prompt: int
    answer: int
    sampling: Sampling
    marginal: Marginal = field(default_factory=Marginal)
    history: int = 1000
    arrangement: str = "ends"


@dataclass(frozen=True, slots=True)
class Reading:
    """A model at work on an answer.

    Attributes:
        spans: The evidence it was shown.
        context: The ledger, in the order of the hits.
        pieces: The answer as it is written; closing it ends the work.
        responsibility: What each passage gave to what is written so far; None where all of them
            stood in one prompt.
        remember: Told the whole answer, keeps the conversation for the next question.
    """

    spans: tuple[Span, ...]
    context: tuple[ContextEntry, ...]
    pieces: Generator[str]
    responsibility: Callable[[], Responsibility | None] = lambda: None
    remember: Callable[[Turn], None] = lambda _: None


def room_for(model: CausalModel, limits: Limits) -> int:
    """Most tokens of one prompt."""
    return min(limits.prompt, model.window - min(limits.answer, model.window // 2))


def concatenate(  # noqa: PLR0913 - what every decoding takes
    model: CausalModel,
    question: str,
    offer: Offer,
    *,
    limits: Limits,
    stop: threading.Event | None = None,
    history: Sequence[Turn] = (),
) -> Reading:
    """Read all the evidence at once and write the answer.

    A further question of a conversation goes on after the prompt before it and its answer, with
    only the evidence that is new: what the model has read is not read again (`prefix_cache`).
    Where that is not known any more, or the conversation outgrew its budget, its latest turns that
    fit are quoted in a new prompt.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    prompt, entries = _prompt(model, question, offer, limits, history)
    written: list[int] = []
    limit = min(limits.answer, model.window - len(prompt.ids))
    tokens = _noted(model.tokens(prompt.ids, sampling=limits.sampling, limit=limit), written)
    pieces = model.spelled(tokens, stop=stop, stops=prompt.stops)

    def remember(turn: Turn) -> None:
        said = Said((*prompt.ids, *written), prompt.spans)
        model.conversations.put((*history, turn), said)

    whole = {span.document.id: span for span in offer.whole}
    for span in prompt.spans:  # documents of earlier turns
        document = span.document
        whole.setdefault(document.id, Span(document, 0, len(document.text), span.score))
    context = ledger([*whole.values()], prompt.spans, model.count)
    return Reading(prompt.spans, (*context, *entries), pieces, remember=remember)


def _prompt(
    model: CausalModel, question: str, offer: Offer, limits: Limits, history: Sequence[Turn]
) -> tuple[Prompt, tuple[ContextEntry, ...]]:
    """What the model reads, and the conversation's line of the ledger, if there is one."""
    room = room_for(model, limits)
    if not history:
        return build(
            question, offer, chat=model.chat, room=room, arrangement=limits.arrangement
        ), ()
    usual = limits.arrangement == "ends"
    said = model.conversations.get(history) if usual else None
    longest = room_for(model, replace(limits, prompt=limits.prompt + limits.history))
    tokens = sum(model.count(each.question + each.answer) for each in history)
    if said is not None and tokens <= limits.history:
        prompt = continued(question, offer, said, chat=model.chat, room=longest)
        if prompt is not None:
            return prompt, (ContextEntry("", "the conversation", tokens, tokens, 0),)
    turns = [(each.question, each.answer) for each in history]
    earlier, entry = conversation(turns, count=model.count, room=min(limits.history, room // 3))
    longest = min(longest, room + entry.kept)
    return build(
        question, offer, chat=model.chat, room=longest, earlier=earlier,
        arrangement=limits.arrangement,
    ), (entry,)  # fmt: skip


def _noted(tokens: Generator[int], written: list[int]) -> Generator[int]:
    """The same tokens, written down."""
    with closing(tokens):
        for token in tokens:
            written.append(token)
            yield token
