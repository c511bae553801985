"""A span in its context is the document's own text, with labels of utterances apart."""

from __future__ import annotations

import pytest

from indexing.documents import Document, Utterance
from rag_app.chat.page.quote_context import Piece, span_context

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


@pytest.mark.parametrize("margin", [0, 1, 7, 30, 200])
def test_nothing_is_lost_or_changed(margin: int) -> None:
    for start in range(len(TEXT)):
        for end in range(start + 1, len(TEXT) + 1):
            context = span_context(meeting(), start, end, margin=margin)
            assert plain(context.span) == TEXT[start:end]
            before, after = plain(context.before), plain(context.after)
            assert TEXT[:start].endswith(before.removeprefix("… "))
            assert TEXT[end:].startswith(after.removesuffix(" …"))


def test_labels_stand_apart() -> None:
    start = TEXT.index("No, on")
    context = span_context(meeting(), start, start + 15, margin=200)
    labels = [piece.text for piece in (*context.before, *context.after) if piece.label]
    assert labels == ["Ann: ", "Bob: ", "Ann: "]
    assert context.span == (Piece("No, on Tuesday."),)
    assert context.location == "Bob"


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
