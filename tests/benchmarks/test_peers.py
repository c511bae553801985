"""A library indexes in one process and finds the right documents in another."""

from __future__ import annotations

from benchmarks.checkouts import SAMPLES
from benchmarks.peers import Question, measure

FILES = (SAMPLES / "heron-3-budget.srt", SAMPLES / "the-ferry-book.txt")
ASKED = (
    Question("Why was the budget cut?", frozenset({FILES[0].name})),
    Question("When does the ferry sail?", frozenset({FILES[1].name})),
    Question("When does the ferry sail?", frozenset({FILES[0].name})),
)


def test_what_is_found_is_compared_with_what_is_right() -> None:
    (peer,) = measure(["bm25s (no vectors)"], FILES, ASKED, rounds=1)
    assert peer.right == 0.667
    assert 0 < peer.further < 1000 * peer.first and peer.index_megabytes > 10
