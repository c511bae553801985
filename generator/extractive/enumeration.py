"""Sentences that list several things, for questions that ask for several.

"Which drugs are kept in the cabinet?" is answered by "Methadone, fentanyl, pethidine.", which has
none of its words and no verb, so that neither encoder nor reader sees much in it.
"""

from __future__ import annotations

import re

import numpy as np

from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures

_ASKS = re.compile(
    r"^\W*(?:(?:and|und|from|in|on|with|for) )?(?:which|what) (?:\w+ ){0,2}?"
    r"(?!(?:is|was|does|has|his|its|this|us|as)\b)\w+s\b(?! (?:is|was|does|has)\b)"
    r"|\bwho (?:all|goes|go|are|were|came)\b|\bwhat are\b|\bwas sind\b"
    r"|^\W*welche \w+(?:e|en|er|s)\b"
    r"|\b(?:which|what|welche) (?:two|three|four|five|six|zwei|drei|vier|fünf|sechs)\b",
    re.IGNORECASE,
)
_ITEM = r"[^,;:|]{2,60}"
_LISTS = re.compile(
    rf"(?:{_ITEM}[,;] ){{2,}}|: {_ITEM}, {_ITEM}|, {_ITEM},? (?:and|und) ", re.IGNORECASE
)


def enumerates(features: SentenceFeatures) -> Vectors:
    """(n,) 1 for a sentence that lists things, where the question asks for several."""
    if not _ASKS.search(features.question):
        return np.zeros(len(features.sentences), np.float32)
    return np.array([bool(_LISTS.search(one.read)) for one in features.sentences], np.float32)
