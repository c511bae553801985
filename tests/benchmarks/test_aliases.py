"""Misheard names are no words; evidence counts as touched where one text holds the other."""

from __future__ import annotations

import random

from benchmarks.aliases import Outcome, Shares, _spelled, _touched, misheard


def test_misheard_names() -> None:
    names = ["Ellmere", "Tarnwick", "Lindqvist", "Quayside"]
    for seed, name in enumerate(names * 5):
        heard = misheard(name, random.Random(seed), {"ellmera"})
        assert heard != name and heard[0].isupper() and heard.lower() != "ellmera"
        assert abs(len(heard) - len(name)) <= 2
        assert misheard(name, random.Random(seed), {"ellmera"}) == heard
    assert _spelled("Ellmere, Ellmeres", {"Ellmere": "Elmere"}) == "Elmere, Ellmeres"


def test_what_is_counted() -> None:
    assert _touched("a.txt", "the  launch", [("/x/a.txt", "On May 3, the launch is near.")])
    assert _touched("a.txt", "On May 3, the launch is near.", [("a.txt", "the launch")])
    assert not _touched("a.txt", "the launch", [("/x/b.txt", "the launch"), ("a.txt", "no")])
    clean, before = Shares(0.8, 0.9), Shares(0.4, 0.9)
    done = Outcome(1, 1, 1, clean, before, Shares(0.7, 0.9), before, 0, (), ())
    assert done.closed("cited", done.aliases) is not None
    assert abs((done.closed("cited", done.aliases) or 0) - 0.75) < 1e-9
    assert done.closed("found", done.aliases) is None
