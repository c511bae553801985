"""The file of fitted numbers."""

from __future__ import annotations

import json

from generator.extractive.fitted import FITTED, FITTED_FILE, Fitted


def test_the_file_holds_what_is_used() -> None:
    assert Fitted(**json.loads(FITTED_FILE.read_text("utf-8"))) == FITTED


def test_numbers_are_probabilities_and_weights() -> None:
    assert 0 <= FITTED.short_above <= 1
    for weights in (FITTED.answerable, FITTED.answerable_unread, FITTED.short):
        assert "bias" in weights
