"""How a word sounds: what different spellings of one name have in common."""

from __future__ import annotations

import re

_HEARD = (
    ("ph", "f"), ("gh", "g"), ("ck", "k"), ("sch", "s"), ("sh", "s"), ("ch", "k"), ("th", "t"),
    ("qu", "k"), ("x", "ks"), ("c", "k"), ("q", "k"), ("z", "s"), ("v", "f"), ("w", "f"),
    ("d", "t"), ("b", "p"), ("g", "k"), ("j", "k"), ("y", "i"),
)  # fmt: skip
_VOWELS = re.compile(r"[aeiouäöüéèáóíh]+")
_TWICE = re.compile(r"(.)\1+")


def sound_of(word: str) -> str:
    """Roughly what is heard of a word: consonants by their kind, vowels as one."""
    text = word.lower()
    for written, heard in _HEARD:
        text = text.replace(written, heard)
    return _TWICE.sub(r"\1", _VOWELS.sub("a", text))
