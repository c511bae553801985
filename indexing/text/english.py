"""What is known of English: how words are stemmed, and by which words one asks."""

from __future__ import annotations

from collections.abc import Sequence

ASKING = frozenset(
    word
    for line in (
        "according describe discuss discussed discussion discussions explain give group meeting",
        "mention mentioned opinion opinions please said say summarize summary talk talked talking",
        "team tell think thought",
    )
    for word in line.split()
)
"""Words by which one asks of documents, and which say nothing of what is asked about."""


def snowball(words: Sequence[str]) -> list[str]:
    """The Snowball stem (Porter2) of each word; words are in lower case."""
    from Stemmer import Stemmer

    stemmed: list[str] = Stemmer("english", 0).stemWords(words)
    return stemmed
