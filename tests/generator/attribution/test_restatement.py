"""A sentence that says its question again rests on the words that the reader finds."""

from __future__ import annotations

import pytest

from generator.attribution.citer import Citer
from generator.evidence import Embed
from generator.reader.reading import Reader
from tests.generator.conftest import prose, span, transcript

READER = Reader()
SHOP = prose(
    "I bought this bin for my bathroom sundries. It holds maybe six bottles of shampoo and "
    "stands firmly. The lid closes well. My sister Joan took two of them to Leeds in 2014.",
    name="bin",
)
RULES = prose(
    "A vet is on call every night. Anybody who is not registered pays a deposit of £100 before the "
    "animal is seen. Everybody else gets a bill. The open evening is put off until March.",
    name="rules",
)
TALK = transcript(
    [
        ("Chair", "So who looks after the website from now on?"),
        ("Dilys", "I can do that, I have the password from Gareth."),
        ("Chair", "Good. And the spring concert stays on the ninth of May."),
    ]
)
BOTTLES = "How many bottles of shampoo will the bin approximately hold?"
TAKEN = "Where did Joan take two of the bins in 2014?"
CONCERT = "On what day does the spring concert take place?"
DEPOSIT = "How much deposit does a non registered customer pay before the animal is seen?"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (BOTTLES, "The bin will approximately hold six bottles of shampoo."),
        (CONCERT, "The day on which the spring concert will take place is the ninth of May."),
        (CONCERT, "The spring concert is currently scheduled for May 9th."),
        (DEPOSIT, "A non registered customer pays a deposit of £100."),
        (DEPOSIT, "The documents state that a non registered customer pays a deposit of £100."),
    ],
)
def test_a_question_said_again_with_its_answer(question: str, sentence: str, embed: Embed) -> None:
    citer = Citer([span(SHOP), span(TALK), span(RULES)], embed, question=question, reader=READER)
    citation = citer.cite(sentence)
    assert citer.unsupported == [] and citation is not None
    assert (
        citation.supported != citation.verified
        and citation.quote in SHOP.text + TALK.text + RULES.text
    )


@pytest.mark.parametrize(
    ("question", "sentence", "why"),
    [
        (BOTTLES, "The bin will approximately hold eight bottles of shampoo.", "number"),
        (BOTTLES, "The bin will not hold six bottles of shampoo.", "denial"),
        (BOTTLES, "The bin will approximately hold bathroom sundries of shampoo.", "other words"),
        (TAKEN, "Two of the bins were taken by Gareth to Leeds in 2014.", "name"),
        (TAKEN, "Two of the bins were taken by Joan to Leeds in 2015.", "year"),
        (DEPOSIT, "A registered customer pays a deposit of £100.", "no denial"),
        (DEPOSIT, "A non registered customer pays a deposit of £200.", "number"),
        (CONCERT, "The spring concert is currently scheduled for May 19th.", "day"),
        (CONCERT, "The day on which the autumn concert takes place is Dilys.", "no answer"),
        ("On what day does the Leeds festival take place?", "It is held on the ninth of June.", ""),
    ],
)
def test_what_the_reader_did_not_find_is_marked(
    question: str, sentence: str, why: str, embed: Embed
) -> None:
    citer = Citer([span(SHOP), span(TALK), span(RULES)], embed, question=question, reader=READER)
    citer.cite(sentence)
    assert citer.unsupported == [sentence], why
