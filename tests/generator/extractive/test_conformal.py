"""Thresholds that keep their promise, by the formula, by simulation, and on disk."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from generator.extractive.conformal import (
    ABSTENTION_FILE,
    AbstentionRecord,
    load_abstention,
    save_abstention,
)
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest


def record(answered: list[float], unanswered: tuple[float, ...] = ()) -> AbstentionRecord:
    return AbstentionRecord("m", "made", tuple(answered), unanswered, "2026-11-23")


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("size", [1, 5, 18, 19, 20, 100, 199])
def test_the_threshold_is_the_kth_smallest(share: float, size: int) -> None:
    values = list(np.random.default_rng(size).random(size))
    found = record(values).threshold(share)
    rank = math.floor(round(share * (size + 1), 9))
    assert found == (sorted(values)[rank - 1] if rank else 0.0)
    assert sum(each < found for each in values) <= share * size


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_another_question_is_withheld_as_rarely_as_promised(share: float) -> None:
    """Over draws of calibration and question together, whatever the distribution."""
    random = np.random.default_rng(0)
    withheld = []
    for _ in range(4_000):
        *known, further = random.beta(0.5, 2.0, 41).tolist()
        withheld.append(further < record(known).threshold(share))
    assert np.mean(withheld) <= share + 0.01
    assert np.mean(withheld) >= share - 1 / 41 - 0.01


def test_ties_are_not_withheld() -> None:
    assert record([0.4] * 99).threshold(0.05) == 0.4  # and what is not below it is answered


def test_what_it_says() -> None:
    whole = record([i / 100 for i in range(1, 100)], (0.01, 0.02, 0.5, 0.9))
    assert whole.threshold(0.05) == 0.05
    assert whole.withheld(0.05) == 0.5
    said = whole.describe(0.05)
    assert "below 0.05: at most 5% of the answerable, and 50% of 4 others (99 questions" in said
    few = record([0.5] * 10)
    assert few.threshold(0.05) == 0.0
    assert few.withheld(0.05) is None
    assert "5% needs 20 answerable questions or more" in few.describe(0.05)


def test_it_is_kept_and_damage_is_none(tmp_path: Path) -> None:
    whole = record([0.1, 0.2], (0.3,))
    assert load_abstention(tmp_path) is None
    save_abstention(whole, tmp_path)
    assert load_abstention(tmp_path) == whole
    file = tmp_path / ABSTENTION_FILE
    file.write_text(file.read_text().replace('"day"', '"made"'))  # as it was called before
    assert load_abstention(tmp_path) == whole
    for text in ("", "[1]", '{"models": "m"}', '{"answered": "x"}'):
        (tmp_path / ABSTENTION_FILE).write_text(text)
        assert load_abstention(tmp_path) is None


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 5.0])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(InvalidRequest, match=r"such as 0\.05"):
        GeneratorSettings(withhold=share)


def test_there_is_one_threshold() -> None:
    with pytest.raises(InvalidRequest, match="not both"):
        GeneratorSettings(withhold=0.05, answerable=0.2)
