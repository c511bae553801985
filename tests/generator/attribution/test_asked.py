"""A question in the evidence supports no statement, unless somebody affirms it."""

from __future__ import annotations

import pytest

from generator.attribution.asked import is_question
from generator.attribution.citer import Citer
from generator.evidence import Embed
from tests.generator.attribution.test_excerpt_support import YES
from tests.generator.conftest import span, transcript

TALK = transcript(
    [
        ("Dr. Gwyn", "Does the price of the probe include the calibration?"),
        ("Owen", "I will have to look that up."),
        ("Dr. Gwyn", "Is the case of the meter waterproof?"),
        ("Owen", "Yes, it is, down to two metres."),
        ("Anna", "The ferry to the island? It sails at nine from the old pier."),
        ("Ben", "Can the tent be returned within thirty days? No, only within ten."),
    ]
)
SUPPORTED = [
    "The case of the meter is waterproof.",
    "The ferry to the island sails at nine.",
]
ONLY_ASKED = [
    "The price of the probe includes the calibration.",
    "Dr. Gwyn said that the price of the probe includes the calibration.",
    "The tent can be returned within thirty days.",
]


@pytest.mark.parametrize("sentence", SUPPORTED)
def test_what_is_said_or_affirmed_is_supported(sentence: str, embed: Embed) -> None:
    citer = Citer([span(TALK)], embed)
    citer.cite(sentence)
    assert citer.unsupported == []


@pytest.mark.parametrize("sentence", ONLY_ASKED)
def test_what_is_only_asked_is_marked(sentence: str, embed: Embed) -> None:
    for verifier in (None, YES):  # even one that believes everything
        citer = Citer([span(TALK)], embed, verifier=verifier)
        citer.cite(sentence)
        assert citer.unsupported == [sentence]


def test_questions() -> None:
    assert is_question('He said: "Why?"') and is_question("Why? ")
    assert not is_question("Why? Because.") and not is_question("")
