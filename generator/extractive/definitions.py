"""Sentences that say what a term means, for a question that asks that: "What is a tort?"."""

from __future__ import annotations

import re

import numpy as np

from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures

_QUOTE = "[\"'\u201c\u201d\u201e\u00bb\u00ab]?"
_ARTICLE = r"(?:(?:an?|the|eine?|der|die|das)\s+)?"
_ASKED = re.compile(
    rf"""\s*(?: what (?:\s+(?:is|are|does) | 's) (?:\s+meant\s+by)?
        | define | was\s+(?:ist|sind|bedeutet|hei(?:ss|ß)t) )\s+
    {_ARTICLE}{_QUOTE} (?P<term>\w[\w&'.\ -]{{1,40}}?) {_QUOTE}
    (?:\s+(?:mean|stand\s+for))?\s*[?.]?\s*""",
    re.IGNORECASE | re.VERBOSE,
)


def defines(features: SentenceFeatures) -> Vectors:
    """(n,) 1 for a sentence that defines the term that is asked for; zeros where none is."""
    asked = _ASKED.fullmatch(features.question)
    if asked is None:
        return np.zeros(len(features.sentences), np.float32)
    definition = _definition_of(asked["term"])
    found = [definition.search(one.text) is not None for one in features.sentences]
    return np.array(found, np.float32)


def _definition_of(term: str) -> re.Pattern[str]:
    """What a definition of a term looks like: '"X" means', 'called an "X"', '(the "X")'."""
    name = r"\s+".join(map(re.escape, term.split()))
    return re.compile(
        rf"""\b{name}\b{_QUOTE}\s+
            (?: means? | (?:shall|will)\s+mean | refers?\s+to | stands?\s+for
              | is\s+defined\s+as | bedeutet | steht\s+für )\b
        | \b(?:called|termed|known\s+as|referred\s+to\s+as|defined\s+as|genannt)\s+
            {_ARTICLE}{_QUOTE}{name}\b
        | \({_ARTICLE}["\u201c\u201e]{name}["\u201d\u201c]\)""",
        re.IGNORECASE | re.VERBOSE,
    )
