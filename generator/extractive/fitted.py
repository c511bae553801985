"""Numbers that were fitted, `fitted.json` beside this file; `training/reader` writes it.

And where the adapters of late chunking lie, which `training/reader/tune_context.py` writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FITTED_FILE = Path(__file__).with_name("fitted.json")
LORA_WEIGHTS = Path(__file__).with_name("late_chunking.safetensors")


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights and thresholds of the extractive answer."""

    sentence: Mapping[str, float]  # of the features of a sentence, by names of `ranking.FEATURES`
    ranking: Mapping[str, float]  # of that sum and of what counts beside it, `ranking_features`
    answerable: Mapping[str, float]  # of what an answer's probability is made of, and its `bias`
    answerable_again: Mapping[str, float]  # the same where a larger reader has read again
    answerable_unread: Mapping[str, float]  # the same where there is no reader
    abstain_below: float  # probability of an answer below which there is none
    short: Mapping[str, float]  # of the probability that words answer, and its `bias`
    short_above: float  # the probability from which they stand out
    short_above_open: float  # the same for an open question ("What did they think of it?")
    enough: float  # probability that one of the quoted sentences answers: they are enough


FITTED = Fitted(**json.loads(FITTED_FILE.read_text("utf-8")))
