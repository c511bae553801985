"""Who speaks how much of a transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from generator.overview.blocks import Block


@dataclass(frozen=True, slots=True)
class SpeakerShare:
    """A speaker's part in a document.

    Attributes:
        name: As the file spells it.
        words: How many words they say.
        share: Of the words that anyone says, 0 to 1.
        utterances: How often they speak.
    """

    name: str
    words: int
    share: float
    utterances: int


def speaker_shares(blocks: Sequence[Block]) -> tuple[SpeakerShare, ...]:
    """Everyone who speaks, most words first; ties in the order in which they first speak."""
    words: Counter[str] = Counter()
    utterances: Counter[str] = Counter()
    for block in blocks:
        if block.speaker is not None:
            words[block.speaker] += block.words
            utterances[block.speaker] += 1
    total = words.total() or 1
    return tuple(
        SpeakerShare(name, count, count / total, utterances[name])
        for name, count in words.most_common()
    )
