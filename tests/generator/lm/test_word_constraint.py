"""Only words that were shown: what a model would make up cannot be written."""

from __future__ import annotations

import random
import re

import pytest
import torch

from generator.answer import NOT_SAID
from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampler, Sampling
from generator.lm.word_constraint import JOINING, WordConstraint, words_of

PIECES = dict(
    enumerate(["", " The", " bud", "get", "s", " was", " cut", " Tom", "'s", ".", " not"])
)
END = 0


def constraint(*texts: str, whole: str = "") -> WordConstraint:
    return WordConstraint(words_of(texts), PIECES.__getitem__, {END}, whole=whole)


def spell(one: WordConstraint, *pieces: str) -> bool:
    """Whether these may be written one after another."""
    ids = {piece: token for token, piece in PIECES.items()}
    for piece in pieces:
        if not one.allows(ids[piece]):
            return False
        one.push(ids[piece])
    return True


@pytest.mark.parametrize(
    ("pieces", "allowed"),
    [
        ([" The", " bud", "get", " was", " cut", ".", ""], True),
        ([" bud", "get", "s"], False),  # another word
        ([" bud", " was"], False),  # a part of one
        ([" bud", ""], False),  # an end within a word
        ([" Tom"], False),  # a name that nobody said
        ([" bud", "get", "'s", " cut"], True),
        ([" was", " not"], False),  # a denial that nobody said
    ],
)
def test_words_that_were_shown(pieces: list[str], allowed: bool) -> None:
    assert spell(constraint("Budget CUT!"), *pieces) == allowed


def test_what_was_shown_in_other_forms() -> None:
    assert spell(constraint("tom did not"), " Tom", " was", " not", "")
    assert words_of(["Zoë’s café"]) >= {"zoë", "zoë's", "caf"}  # noqa: RUF001
    assert not JOINING & {"not", "no", "nor"}
    whole = constraint(whole=" The budgets")
    assert spell(whole, " The", " bud", "get", "s", "")
    assert not spell(constraint(whole=" The budgets"), " The", " bud", "get", "")


def test_a_sampler_writes_nothing_else(model: CausalModel) -> None:
    choose = random.Random(4)
    text = "Priya cut the budget to 12.5 euros, as Zoë's café had closed."
    one = WordConstraint(
        words_of([text]), lambda token: model.decode([token]), model.eos_token_ids, whole=NOT_SAID
    )
    sample = Sampler(Sampling(), torch.device("cpu"), constraint=one)
    ids: list[int] = []
    while len(ids) < 30:
        logits = torch.randn(49152, generator=torch.Generator().manual_seed(choose.randrange(999)))
        wanted = model.chat.content(choose.choice(["Priya", " budget", " Oslo", " 99", "."]))[0]
        logits[wanted] += 9.0  # mostly what a model would like to write
        token = sample(logits)
        if token in model.eos_token_ids:
            break
        ids.append(token)
    written = re.findall(r"[^\W_]+", model.decode(ids).lower())
    allowed = words_of([text]) | JOINING
    assert written and all(word in allowed for word in written[:-1])  # the last may be unfinished
    assert "oslo" not in written and "99" not in written
