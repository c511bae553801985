"""A span in its context is the document's own text, with labels of utterances apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.answer import Citation, ShortAnswer
from indexing.documents import Document, Utterance
from indexing.encoder.encoder import Encoder
from rag_app.chat.page.quote_context import (
    Piece,
    citation_context,
    quote_pieces,
    span_context,
)
from rag_app.corpus.corpus import Corpus

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


def test_a_quote_is_shown_where_it_stands_now(tmp_path: Path, encoder: Encoder) -> None:
    quote = "The launch is on the third of May."
    with Corpus(tmp_path, encoder=encoder) as corpus:
        corpus.add_text(f"Notes.\n\n{quote}\n", name="n")
        id_ = corpus.documents()[0].id
        citation = Citation(1, id_, "n", "n", "", 8, 8 + len(quote), quote)
        short = ShortAnswer.within(citation, 29, 41, 0.5)
        for text, problem, start in (
            (f"Notes.\n\n{quote}\n", "", 8),
            (f"Notes of April.\n\n{quote}\n", "", 17),
            (f"Notes.\n\n{quote.replace('third', 'ninth')}\n", "something else", 8),
            ("Notes of other things altogether.\n", "has changed", 8),
        ):
            corpus.add_text(text, name="n")
            context = citation_context(corpus, citation, short=short)
            assert plain(context.span) == quote and problem in context.problem
            assert context.start == start and bool(context.problem) == bool(problem)
            assert "".join(one.text for one in context.span if one.short) == "third of May"
