"""A question of a conversation -> evidence that is looked for, and the answer, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.documents import Document, Hit

if TYPE_CHECKING:
    from generator.answer import Answer, Event, Mode
    from generator.generator import Generator
    from generator.position_check import PositionCheck
    from generator.prompt.follow_up import Turn

# Passages of evidence that are handed to the generator, over all documents of an answer.
EVIDENCE_DOCUMENTS = 5
EVIDENCE_PASSAGES = 16


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found for a query.

    Attributes:
        hits: Documents, best first.
        documents: Each hit's document, by id.
    """

    hits: Sequence[Hit]
    documents: dict[str, Document]


def answered(
    question: str,
    *,
    find: Callable[[str], Retrieval],
    generator: Callable[[], Generator],
    answer: Mode | None = None,
    history: Sequence[Turn] = (),
) -> Iterator[Event]:
    """ContextReady, TextDelta (many), AnswerReady.

    Args:
        question: As asked.
        find: Looks for evidence.
        generator: Gives what answers, after the search, which may load models of its own.
        answer: "quote" or "free"; None takes the generator's choice.
        history: The conversation so far, oldest turn first.
    """
    from generator.answer import AnswerReady
    from generator.prompt.follow_up import complete

    started = time.perf_counter()
    evidence = find(complete(question, history))
    answering = generator()
    searched = time.perf_counter() - started
    lookup = evidence.documents.__getitem__
    for event in answering.stream(question, evidence.hits, lookup, answer=answer, history=history):
        if isinstance(event, AnswerReady):
            yield AnswerReady(_with_search(event.answer, searched))
        else:
            yield event


def position_checked(  # noqa: PLR0913 - as `answered`, and two more
    question: str,
    *,
    find: Callable[[str], Retrieval],
    generator: Callable[[], Generator],
    answer: Mode | None = None,
    history: Sequence[Turn] = (),
    usual: Answer | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PositionCheck:
    """Asks again with the evidence in other orders, and with positions read in another way.

    Args:
        question: As asked.
        find: Looks for evidence.
        generator: Gives what answers.
        answer: "quote" or "free"; None takes the generator's choice.
        history: The conversation so far, oldest turn first.
        usual: The usual answer, where it is known already.
        progress: Told how many variants are done, of how many.
    """
    from generator.position_check import Asked, check
    from generator.prompt.follow_up import complete

    evidence = find(complete(question, history))
    answering, lookup = generator(), evidence.documents.__getitem__
    if usual is None:
        usual = answering.answer(question, evidence.hits, lookup, answer=answer, history=history)
    asked = Asked(question, evidence.hits, lookup, history)
    return check(answering, asked, usual, progress=progress)


def _with_search(answer: Answer, seconds: float) -> Answer:
    """The answer with the time that finding its evidence took."""
    total = answer.seconds["total"] + seconds
    first = answer.seconds.get("first", 0.0) + seconds
    spent = {**answer.seconds, "search": seconds, "first": first, "total": total}
    return replace(answer, seconds={name: round(value, 4) for name, value in spent.items()})
