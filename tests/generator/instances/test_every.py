"""Passages of two searches are read as deep as it is worth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict

import pytest

from generator.evidence import evidence_sentences
from generator.instances.every import DEEPEST, DEPTH, EveryRequest, every
from generator.instances.places import WEIGHTS, Passage, Place
from indexing.documents import Hit, PassageHit
from indexing.files import document


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_it_reads_on_while_many_are_asked_for(share: float) -> None:
    lines = [f"Line {number} says this." for number in range(2 * DEEPEST)]
    text = document("\n".join(lines), name="lines.txt")
    places = [(each.start(), each.end()) for each in re.finditer(r".+", text.text)]
    passages = tuple(
        PassageHit(start, end, text.text[start:end], 1.0 - number / len(places))
        for number, (start, end) in enumerate(places)
    )
    hits = [Hit(text.id, text.title, text.path, "", 1.0, passages)]
    wanted = int(share * DEEPEST)

    def judge(of: Sequence[Passage]) -> list[Place | None]:
        """Sure of the first so many lines."""
        own = [evidence_sentences(one)[0] for one in of]
        lines_of = [int(one.text.split()[1]) for one in own]
        return [
            Place(one, "", dict.fromkeys(WEIGHTS, 9.0 if line < wanted else -9.0))
            for one, line in zip(own, lines_of, strict=True)
        ]

    catches = {"words": hits, "vectors": hits}
    found = every(EveryRequest("What?"), catches, lambda _: text, judge)
    assert found.found == wanted
    least = max(DEPTH, wanted)
    assert least <= len(found.read) <= min(DEEPEST, 4 * least) and asdict(found.estimate)


def test_progress_says_how_much_of_a_round_is_still_to_be_read() -> None:
    texts = [document("A line says this. " * DEEPEST, name=f"{one}.txt") for one in "abcd"]
    hits = [
        Hit(one.id, one.title, one.path, "", 1.0, passages)
        for one in texts
        for passages in [
            tuple(PassageHit(18 * at, 18 * at + 17, "", 1.0 / (at + 1)) for at in range(DEPTH))
        ]
    ]

    def judge(of: Sequence[Passage]) -> list[Place | None]:
        return [Place(evidence_sentences(one)[0], "", dict.fromkeys(WEIGHTS, 9.0)) for one in of]

    steps: list[tuple[int, int]] = []
    by_id = {one.id: one for one in texts}
    every(
        EveryRequest("What?"),
        {"words": hits},
        by_id.__getitem__,
        judge,
        progress=lambda *step: steps.append(step),
    )
    rounds = [(0, DEPTH), (DEPTH, 2 * DEPTH), (2 * DEPTH, 4 * DEPTH)]
    assert steps[:12] == [
        (before + (total - before) * part // 4, total)
        for before, total in rounds
        for part in (1, 2, 3, 4)
    ]
