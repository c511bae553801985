"""A span in its context is the document's own text, with labels of utterances apart."""

from __future__ import annotations

import pytest

from generator.answer import Citation, ShortAnswer
from indexing.documents import Document, Utterance
from rag_app.chat.page.quote_context import Piece, quote_pieces, span_context

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


def test_the_short_answer_stands_apart_in_the_quote() -> None:
    start, end = TEXT.index("met"), TEXT.index("it so")  # the labels of Bob and Ann are between
    citation = Citation(1, "m", "m.txt", "m", "", start, end, TEXT[start:end])
    for first in range(start, end):
        for last in range(first + 1, end + 1):
            short = ShortAnswer.within(citation, first, last, 0.5)
            for document in (meeting(), None):  # None: it is no longer in the corpus
                pieces = quote_pieces(citation, short, document)
                assert plain(pieces) == TEXT[start:end]
                words = tuple(piece for piece in pieces if piece.short)
                assert plain(words) == (short.text if short else "")
    labels = [piece.text for piece in quote_pieces(citation, short, meeting()) if piece.label]
    assert labels == ["Bob: ", "Ann: "]
