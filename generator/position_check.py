"""Position check: does an answer depend on where its evidence stands in the prompt?

An answer that changes with the order of the evidence, or with how the model reads positions, does
not rest on the evidence alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from generator.answer import Answer, JsonValue
from generator.generator import Generator
from generator.lm.causal_lm import CausalModel
from generator.prompt.arrangement import ARRANGEMENTS
from generator.request import AskRequest, Retrieval
from indexing.errors import UnsupportedModel
from indexing.message import N_

_ONE_PROMPT = ("concat", "quotes")
"""Decodings that read all the evidence in one prompt."""

REVERSED = "reversed"
"""The order of evidence that is handed over last first."""

AGREE = 0.5
"""An answer that agrees less than this with the usual one has changed."""

_MARK = re.compile(r"\[(\d+|unsupported)\]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking, and what came of it."""

    order: str  # of the evidence, a key of `ARRANGEMENTS`
    positions: str  # how the model read positions
    answer: Answer
    agreement: float  # with the usual answer, 0 to 1: of the words, and of what is quoted
    changed: bool  # whether it agrees too little, or only one of the two says that nothing is said


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """The usual answer beside the others."""

    answer: Answer  # the usual one
    variants: tuple[Variant, ...]  # the other ways of asking
    left_out: tuple[str, ...] = ()  # what could not be tried, and why

    @property
    def agreement(self) -> float:
        """The mean over the variants."""
        return sum(one.agreement for one in self.variants) / max(1, len(self.variants))

    @property
    def stable(self) -> bool:
        """Whether no variant changed the answer."""
        return not any(one.changed for one in self.variants)

    def as_json(self) -> dict[str, JsonValue]:
        """Plain values, without the usual answer."""
        return {
            "stable": self.stable,
            "agreement": round(self.agreement, 4),
            "variants": [
                {
                    "order": one.order,
                    "positions": one.positions,
                    "answer": one.answer.text,
                    "agreement": round(one.agreement, 4),
                    "changed": one.changed,
                }
                for one in self.variants
            ],
            "left_out": list(self.left_out),
        }


def check(
    generator: Generator,
    request: AskRequest,
    retrieval: Retrieval,
    usual: Answer,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> PositionCheck:
    """Asks again with the evidence in other orders, and with Ms-PoE on or off, as it was not.

    Orders of one prompt are those of `ARRANGEMENTS`. Where no prompt holds all the evidence (ranked
    quotes, passages read apart), it is handed over in reverse, which must change nothing. The
    generator must not answer anything else meanwhile.
    """
    request = replace(request, mode=usual.mode)
    ways = _ways(generator, usual)
    answers: list[tuple[str, str, Answer]] = []
    left_out = []
    for done, (order, ms_poe) in enumerate(ways):
        if progress:
            progress(done, len(ways))
        try:
            answers.append(_ask_again(generator, request, retrieval, order, ms_poe))
        except UnsupportedModel as error:
            left_out.append(f"Ms-PoE: {error}")
    if progress:
        progress(len(ways), len(ways))
    if usual.model and not isinstance(generator.model, CausalModel):
        left_out.append(N_("Ms-PoE: it needs the model's internals, which a server does not show"))
    return compare(usual, answers, left_out=left_out)


def _ways(generator: Generator, usual: Answer) -> list[tuple[str, str | None]]:
    """Order, and setting of Ms-PoE where that is another one."""
    settings = generator.settings
    together = usual.model and (usual.mode == "quote" or settings.usual_decoding in _ONE_PROMPT)
    orders = [each for each in ARRANGEMENTS if each != settings.arrangement]
    ways: list[tuple[str, str | None]] = [(order, None) for order in orders if together]
    if not together:
        ways.append((REVERSED, None))
    if usual.model and isinstance(generator.model, CausalModel):
        now = generator.positions
        on = now is not None and now.method is not None
        ways.append((settings.arrangement, "off" if on else "on"))
    return ways


def _ask_again(
    generator: Generator, request: AskRequest, retrieval: Retrieval, order: str, ms_poe: str | None
) -> tuple[str, str, Answer]:
    arrangement: str | None = order
    if order == REVERSED:
        hits = [replace(hit, passages=hit.passages[::-1]) for hit in retrieval.hits[::-1]]
        arrangement, retrieval = None, replace(retrieval, hits=hits)
    with generator.variant(arrangement=arrangement, ms_poe=ms_poe) as other:
        answer = other.answer(request, retrieval)
    return order, answer.configuration.get("Ms-PoE", ""), answer


def compare(
    usual: Answer, others: Sequence[tuple[str, str, Answer]], *, left_out: Sequence[str] = ()
) -> PositionCheck:
    """A check from answers."""
    variants = []
    for order, positions, other in others:
        score = agreement(usual, other)
        variants.append(Variant(order, positions, other, score, is_changed(usual, other, score)))
    return PositionCheck(usual, tuple(variants), tuple(left_out))


def agreement(one: Answer, other: Answer) -> float:
    """How much two answers say the same: F1 of their words, without markers, in any order.

    For quote answers it is F1 of the characters that they quote.
    """
    if one.abstained or other.abstained:
        return float(one.abstained == other.abstained)
    if one.mode == "quote":
        return _f1(_quoted(one), _quoted(other))
    return _f1(_words(one), _words(other))


def is_changed(one: Answer, other: Answer, score: float) -> bool:
    """Whether the second is another answer."""
    return one.abstained != other.abstained or score < AGREE


def _words(answer: Answer) -> Counter[object]:
    return Counter(_WORD.findall(_MARK.sub(" ", answer.text).casefold()))


def _quoted(answer: Answer) -> Counter[object]:
    places = {
        (each.document, at) for each in answer.citations for at in range(each.start, each.end)
    }
    return Counter(places)


def _f1(one: Counter[object], other: Counter[object]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0
