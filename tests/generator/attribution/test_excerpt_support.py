"""What supports a sentence in other words, and that no verifier gets past the rules."""

from __future__ import annotations

import pytest
import torch

from generator.attribution.citer import Citer
from generator.attribution.excerpt_support import MOST, excerpts
from generator.attribution.verifier import Verifier
from generator.evidence import Embed, Span, evidence_sentences
from indexing.documents import Document
from tests.generator.attribution.test_citer import DO_NOT_HOLD, HOLD, MEETING, REPORT
from tests.generator.attribution.test_verifier import head
from tests.generator.conftest import prose, span, transcript

YES = Verifier(head(bias=9.0), dtype=torch.float32)
NO = Verifier(head(bias=-9.0), dtype=torch.float32)
RULES = {
    "number",
    "name",
    "denial",
    "opposite",
    "name at the start",
    "number word",
    "unit",
    "ordinal",
}
UNSEEN = ("The committee did not approve the first", "Sales fell")
"""What only the verifier can tell, as its words stand elsewhere in the excerpt."""
PARAPHRASE = "A sum of 412,000 pounds was granted to Heron by the board."
MANY = prose("\n\n".join(f"The board spoke of item {i}. {'Talk. ' * 90}" for i in range(9)))


def citer(embed: Embed, verifier: Verifier, *documents: Document) -> Citer:
    return Citer([span(each) for each in documents], embed, verifier=verifier)


def test_three_marks(embed: Embed) -> None:
    answer = citer(embed, YES, REPORT, MEETING)
    quoted, reworded = answer.cite(HOLD[4]), answer.cite(PARAPHRASE)
    assert answer.cite("Quantum zebras yodel.") is None
    assert [each.support for each in answer.sentences] == ["quoted", "supported", "unsupported"]
    assert [each.marker for each in answer.sentences] == [1, 2, None]
    assert answer.unsupported == ["Quantum zebras yodel."]
    assert quoted is not None and quoted.verified and not quoted.supported
    assert reworded is not None and reworded.supported and not reworded.verified
    assert reworded.probability == pytest.approx(0.9999)
    assert REPORT.text[reworded.start : reworded.end] == reworded.quote
    assert HOLD[0][:-1] in reworded.quote
    assert reworded.doubt == "says it in other words" and quoted.doubt == ""


def test_without_its_word_or_without_a_verifier_a_paraphrase_is_unsupported(embed: Embed) -> None:
    for answer in (citer(embed, NO, REPORT), Citer([span(REPORT)], embed)):
        answer.cite(PARAPHRASE)
        assert [each.support for each in answer.sentences] == ["unsupported"]


@pytest.mark.parametrize(
    "sentence",
    [text for text, reason in DO_NOT_HOLD if reason in RULES and not text.startswith(UNSEEN)],
)
def test_rules_have_a_veto(sentence: str, embed: Embed) -> None:
    answer = citer(embed, YES, REPORT, MEETING)
    answer.cite(sentence)
    assert answer.unsupported == [sentence]


def test_the_same_excerpt_has_one_marker(embed: Embed) -> None:
    answer = citer(embed, YES, REPORT)
    first = answer.cite(PARAPHRASE)
    again = answer.cite("The board granted Heron a sum of 412,000 pounds.")
    assert first is not None and again is not None and first.marker == again.marker == 1
    assert len(answer.citations) == 1


def test_only_the_nearest_are_read(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[str]] = []
    probabilities = Verifier.probabilities

    def counting(self: Verifier, sentence: str, excerpts: list[str]) -> object:
        read.append(excerpts)
        return probabilities(self, sentence, excerpts)

    monkeypatch.setattr(Verifier, "probabilities", counting)
    answer = citer(embed, NO, MANY)
    answer.cite("The board has spoken of item 4, and of more.")
    assert len(read) == 1 and len(read[0]) <= MOST
    assert all("item 4" in each for each in read[0])  # the others lack the number


def test_short_answers_are_read_with_their_question(
    embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    probabilities = Verifier.probabilities

    def counting(self: Verifier, sentence: str, excerpts: list[str]) -> object:
        read.append(sentence)
        return probabilities(self, sentence, excerpts)

    monkeypatch.setattr(Verifier, "probabilities", counting)
    question = "How long may the repair take?"
    answer = Citer([span(REPORT)], embed, question=question, verifier=NO)
    answer.cite("About 30 days.")
    answer.cite("For the roof, the landlord has 30 days of time.")
    assert read[0] == f"{question} About 30 days." and question not in read[1]


def test_what_stands_apart_is_gathered(embed: Embed) -> None:
    said = [("Iris", "The paper is accepted."), *[("Otto", f"Hm, {'well ' * 90}.")] * 3]
    talk = transcript([*said, ("Iris", "The reviewers' comments are good.")])
    sentence = "The paper is accepted, and the reviewers' comments are good."
    for verifier, supported in ((YES, True), (NO, False)):
        answer = citer(embed, verifier, talk)
        citation = answer.cite(sentence)
        assert (answer.unsupported == []) == supported
        if supported:
            assert citation is not None and citation.overlap == pytest.approx(1.0)
            assert citation.quote in (said[0][1], "The reviewers' comments are good.")


TALK = transcript(
    [
        ("Ann", "The probe {vocalsound} is late. It comes in May."),
        ("Bob", "Who told you that?"),
        ("Bob", "Nobody told me."),
    ]
)


def test_labels_are_read_once_an_utterance_and_annotations_are_not() -> None:
    (whole,) = excerpts(evidence_sentences([span(TALK)]))
    expected = (
        "Ann: The probe is late. It comes in May. Bob: Who told you that? Bob: Nobody told me."
    )
    assert whole.text == expected


def test_every_sentence_is_in_one_excerpt_none_longer_than_asked() -> None:
    document = prose(" ".join(f"Sentence number {i} says a little." for i in range(80)))
    spoken = evidence_sentences([span(document), span(TALK)])
    parts = excerpts(reversed(spoken), length=200)
    assert sorted(one.start for each in parts for one in each.sentences) == sorted(
        one.start for one in spoken
    )
    for each in parts:
        assert len({one.document.id for one in each.sentences}) == 1
        assert sum(one.end - one.start for one in each.sentences) <= 200


def test_what_stands_far_apart_is_not_read_together() -> None:
    document = prose(f"The first is here. {'x' * 300} The last is there.")
    ends = [
        Span(document, 0, 18, 1.0),
        Span(document, len(document.text) - 18, len(document.text), 1.0),
    ]
    assert [each.text for each in excerpts(evidence_sentences(ends))] == [
        "The first is here.",
        "The last is there.",
    ]


def test_a_long_sentence_stands_alone() -> None:
    document = prose(f"Short. {'word ' * 60}end. Short again.")
    texts = [each.text for each in excerpts(evidence_sentences([span(document)]), length=100)]
    assert len(texts) == 3 and texts[0] == "Short." and texts[2] == "Short again."
