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
    """Weights and thresholds of the extractive answer.

    Attributes:
        sentence: Weights of the features of a sentence, by names of `ranking.FEATURES`.
        ranking: Weights of that sum and of what counts beside it, by names of `ranking_features`.
        answerable: Weights of what the probability of an answer is made of, and its `bias`.
        answerable_again: The same where a larger reader has read the best sentences again.
        answerable_unread: The same where there is no reader.
        abstain_below: Probability of an answer below which there is none.
        short: Weights of what the probability is made of that words answer, and its `bias`.
        short_above: The probability from which they stand out.
        short_above_open: The same for an open question ("What did they think of it?").
        enough: Probability that one of the quoted sentences answers, from which they are enough.
    """

    sentence: Mapping[str, float]
    ranking: Mapping[str, float]
    answerable: Mapping[str, float]
    answerable_again: Mapping[str, float]
    answerable_unread: Mapping[str, float]
    abstain_below: float
    short: Mapping[str, float]
    short_above: float
    short_above_open: float
    enough: float


FITTED = Fitted(**json.loads(FITTED_FILE.read_text("utf-8")))
