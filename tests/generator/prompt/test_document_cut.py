"""Documents cut at sentences, against every run of sentences there is."""

from __future__ import annotations

import random

import pytest

from generator.answer import ContextEntry
from generator.evidence import Span, gather_evidence
from generator.lm.causal_lm import CausalModel
from generator.prompt.builder import build_prompt
from generator.prompt.document_cut import best_passage, cut_document, describe_parts
from indexing.documents import Document
from indexing.text.sentences import sentences
from tests.generator.conftest import hit, prose, transcript


def story(seed: int, count: int) -> Document:
    words = random.Random(seed)
    return prose(
        " ".join(
            f"Sentence {n} has {'very ' * words.randrange(9)}many words." for n in range(count)
        ),
        name=f"story{seed}",
    )


def limit(characters: int) -> object:
    return lambda part: part.end - part.start <= characters


def whole(document: Document) -> Span:
    return Span(document, 0, len(document.text), 1.0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("room", [60, 200, 900])
def test_it_is_the_longest_beginning(seed: int, room: int) -> None:
    document = story(seed, 60)
    part = cut_document(whole(document), None, limit(room), 10_000)  # type: ignore[arg-type]
    ends = [end for _, end in sentences(document.text, 0, len(document.text))]
    longest = max((end for end in ends if end <= room), default=None)
    assert (part and (part.start, part.end)) == (longest and (0, longest))


@pytest.mark.parametrize("seed", range(4))
def test_the_best_passage_is_in(seed: int) -> None:
    document = story(seed, 80)
    bounds = list(sentences(document.text, 0, len(document.text)))
    starts, ends = {start for start, _ in bounds}, {end for _, end in bounds}
    for first in (0, 20, 50, 78):
        best = Span(document, bounds[first][0], bounds[first + 1][1], 2.0)
        part = cut_document(whole(document), best, limit(700), 10_000)  # type: ignore[arg-type]
        assert part is not None
        assert part.start <= best.start and best.end <= part.end
        assert part.start in starts and part.end in ends
        assert part.end - part.start <= 700
        if part.end < len(document.text):
            following = next(end for end in sorted(ends) if end > part.end)
            assert following - part.start > 700  # no room was left for one more
        assert first or part.start == 0


def test_a_transcript_is_cut_between_utterances_labels_and_all() -> None:
    document = transcript([(f"Speaker {n}", f"Item {n} was closed today.") for n in range(40)])
    late = document.utterances[30]
    best = Span(document, late.start, late.end, 1.0)
    part = cut_document(whole(document), best, limit(400), 10_000)  # type: ignore[arg-type]
    assert part is not None and part.start <= late.start and late.end <= part.end
    assert part.start in {each.start for each in document.utterances}
    assert part.end in {each.end for each in document.utterances}


def test_no_sentence_fits() -> None:
    document = prose("A" * 500 + ". " + "B" * 400 + ".")
    assert cut_document(whole(document), None, limit(100), 1000) is None  # type: ignore[arg-type]


def test_documents_come_before_passages_and_all_fits(model: CausalModel) -> None:
    """The best whole, the next cut, the last left out; and the prompt is as long as allowed."""
    documents = [story(n, 60) for n in (5, 6, 7)]
    hits = [hit(one, (0, 40), score=3.0 - n) for n, one in enumerate(documents)]
    evidence = gather_evidence(hits, {one.id: one for one in documents}.__getitem__)
    room = 1400
    prompt = build_prompt("How many words?", evidence, chat=model.chat, room=room, documents=True)
    assert room - 40 < len(prompt.ids) <= room
    shown = {span.document.id: span for span in prompt.spans}
    assert set(shown) == {"story5", "story6"}
    assert (shown["story5"].start, shown["story5"].end) == (0, len(documents[0].text))
    assert shown["story6"].start == 0 < shown["story6"].end < len(documents[1].text)
    assert documents[1].text[shown["story6"].end - 1] == "."
    found = best_passage(evidence, documents[1])
    assert found is not None and (found.start, found.end) == (0, 40)
    passages = build_prompt("How many words?", evidence, chat=model.chat, room=room)
    assert {span.end - span.start for span in passages.spans} == {40}


def test_what_is_said_of_parts() -> None:
    entries = [
        ContextEntry("a", "Alpha", 10, 10, 0),
        ContextEntry("b", "Beta", 2000, 1500, 500),
        ContextEntry("c", "Gamma", 9, 0, 9),
        ContextEntry("", "the conversation", 5, 5, 0),
    ]
    assert describe_parts(entries) == (
        "documents: 1 whole, Beta cut at a sentence (1,500 of 2,000 tokens), "
        "1 left out, as there is no room"
    )
    assert describe_parts(entries[:1]) == "documents: 1 whole"
