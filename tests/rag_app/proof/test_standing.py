"""What became of a quote: on seeded edits whose truth is known, and where words may deceive."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.refresh import sentence_verdicts
from indexing.documents import Document, Utterance
from indexing.files import document
from rag_app.proof.standing import around, look_up


def test_every_sentence_of_edited_documents() -> None:
    found = list(sentence_verdicts(60, seed=11))
    assert [one for one in found if one[0] != one[1]] == []
    assert min(Counter(true for true, _, _ in found).values()) > 10 and len(found) > 700


TEXT = "We met at nine. The launch is on the third of May. Yes. Coffee was served by the window."
LAUNCH = "The launch is on the third of May."


def quoted(text: str, words: str, *, alone: bool = False) -> dict[str, Any]:
    """A quote as a batch keeps it, or as earlier versions did."""
    whole, start = document(text, name="notes"), text.index(words)
    values = {"quote": words, "start": start, "end": start + len(words), "page": None}
    more = {} if alone else around(whole, start, start + len(words))
    return {**values, "speaker": None, "time_seconds": None, **more}


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("now", "standing", "words"),
    [
        (TEXT, "same", LAUNCH),
        (f"Notes.\n\n{TEXT}", "moved", LAUNCH),
        ("Notes.\n\n" + TEXT.replace(" is", "\nis"), "moved", LAUNCH.replace(" is", "\nis")),
        (TEXT.replace("third", "ninth"), "altered", LAUNCH.replace("third", "ninth")),
        (
            TEXT.replace("The launch", "Nobody said so: The launch"),
            "altered",
            f"Nobody said so: {LAUNCH}",
        ),
        (TEXT.replace(LAUNCH, "It rained."), "gone", ""),
        (TEXT.replace(f" {LAUNCH}", ""), "gone", ""),
        ("Another text altogether, of other things.", "gone", ""),
    ],
)
def test_a_sentence_of_notes(now: str, standing: str, words: str, alone: bool) -> None:
    found = look_up(quoted(TEXT, LAUNCH, alone=alone), document(now, name="notes"))
    assert (found.standing, found.text) == (standing, words)
    assert document(now, name="notes").text[found.start : found.end] == found.text


def test_a_document_that_is_gone_and_words_that_are_anywhere() -> None:
    assert look_up(quoted(TEXT, LAUNCH), None).standing == "gone"
    elsewhere = document("It was long. Was it cold? Yes. We left.", name="notes")
    assert look_up(quoted(TEXT, "Yes."), elsewhere).standing == "gone"


def test_who_says_it_and_when() -> None:
    text = "Ana: Good morning.\nBob: The launch is off.\n"
    start = text.index("The launch")

    def said(speaker: str, time: float, renamed: str | None = None) -> Document:
        ana = Utterance(0, 18, 5, "Ana", 0.0)
        bob = Utterance(19, len(text) - 1, start, speaker, time, renamed)
        return replace(document(text, name="talk"), utterances=(ana, bob))

    before = said("Bob", 4.0)
    quote = {
        "quote": "The launch is off.", "start": start, "end": start + 18, "page": None,
        "speaker": "Bob", "time_seconds": 4.0, **around(before, start, start + 18),
    }  # fmt: skip
    assert look_up(quote, before).standing == "same"
    assert look_up(quote, said("Robert", 4.0, "Bob")).standing == "same"  # a name that people gave
    assert look_up(quote, said("Bob", 9.0)).standing == "moved"
    assert look_up(quote, said("Cy", 4.0)).standing == "altered"


@pytest.mark.parametrize(("label", "standing"), [("Bob", "moved"), ("Cy", "altered")])
def test_a_name_before_a_sentence_is_none_of_its_words(label: str, standing: str) -> None:
    now = document(f"Notes of today.\nBob: {LAUNCH}\nWe left.", name="notes")
    assert not now.utterances
    assert look_up({**quoted(TEXT, LAUNCH), "label": label}, now).standing == standing
