"""A span in its surroundings is the document's own text, with labels of utterances apart."""

from __future__ import annotations

import pytest

from indexing.documents import Document, Utterance
from rag_app.chat.page.quote_context import Piece, passage

SAID = [("Ann: ", "We met on Monday."), ("Bob: ", "No, on Tuesday."), ("Ann: ", "Was it so?")]
TEXT = "\n".join(label + words for label, words in SAID)


def meeting() -> Document:
    utterances, at = [], 0
    for label, words in SAID:
        end = at + len(label + words)
        utterances.append(Utterance(at, end, at + len(label), label[:-2]))
        at = end + 1
    return Document("m", "m.txt", "", "m", "text", "", TEXT, tuple(utterances))


def plain(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize("around", [0, 1, 7, 30, 200])
def test_nothing_is_lost_or_changed(around: int) -> None:
    for start in range(len(TEXT)):
        for end in range(start + 1, len(TEXT) + 1):
            shown = passage(meeting(), start, end, around=around)
            assert plain(shown.span) == TEXT[start:end]
            before, after = plain(shown.before), plain(shown.after)
            assert TEXT[:start].endswith(before.removeprefix("… "))
            assert TEXT[end:].startswith(after.removesuffix(" …"))


def test_labels_stand_apart() -> None:
    start = TEXT.index("No, on")
    shown = passage(meeting(), start, start + 15, around=200)
    labels = [piece.text for piece in (*shown.before, *shown.after) if piece.label]
    assert labels == ["Ann: ", "Bob: ", "Ann: "]
    assert shown.span == (Piece("No, on Tuesday."),)
    assert shown.place == "Bob"


def test_turns_within_a_span_are_those_that_a_naive_look_finds() -> None:
    document = meeting()
    for start in range(len(TEXT)):
        for end in range(start, len(TEXT) + 1):
            naive = tuple(
                utterance
                for utterance in document.utterances
                if utterance.start < end and utterance.end > start
            )
            assert document.utterances_within(start, end) == naive
