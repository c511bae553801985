"""The short answer is checked like every span."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from generator.answer import Answer, Citation, ShortAnswer
from generator.answer_json import as_json

TEXT = "Ann: The  ferry\nsails at nine\u202e o'clock. <b>[1]</b> Then tea."
START, END = 5, 51
CITATION = Citation(2, "d", "/d.txt", "D", "", START, END, TEXT[START:END], time=65.0)


def test_every_span_within_the_quote_is_a_span_of_the_document() -> None:
    for start in range(len(TEXT) + 1):
        for end in range(len(TEXT) + 1):
            short = ShortAnswer.within(CITATION, start, end, 0.5)
            blank = not TEXT[start:end].strip()
            if not START <= start < end <= END or blank:
                assert short is None
            else:
                assert short is not None
                assert TEXT[short.start : short.end] == short.text
                assert (short.marker, short.document, short.probability) == (2, "d", 0.5)


@pytest.mark.parametrize("said", [False, True])
def test_json_has_the_short_answer_and_the_closest_passages(said: bool) -> None:
    short = ShortAnswer.within(CITATION, 21, 29, 0.75)
    answer = (
        Answer("When?", "…", citations=(CITATION,), short=short, probability=0.9)
        if said
        else Answer("When?", "…", closest=(CITATION,), abstained=True)
    )
    values = json.loads(json.dumps(as_json(answer)))
    if said:
        assert values["short"] == {
            "marker": 2, "document": "d", "start": 21, "end": 29, "text": TEXT[21:29],
            "probability": 0.75,
        }  # fmt: skip
        assert values["closest"] == [] and values["probability"] == 0.9
    else:
        assert values["short"] is None and values["probability"] is None
        assert values["citations"] == [] and values["closest"][0]["quote"] == CITATION.quote
        assert values["closest"][0]["time"] == "00:01:05"


@pytest.mark.parametrize(
    ("citation", "support"),
    [
        (replace(CITATION, verified=True, overlap=1.0), "quoted"),
        (replace(CITATION, supported=True, probability=0.97), "supported"),
        (CITATION, "unsupported"),
    ],
)
def test_json_says_what_each_citation_gives_to_the_answer(citation: Citation, support: str) -> None:
    values = json.loads(json.dumps(as_json(Answer("When?", "…", citations=(citation,)))))
    (quote,) = values["citations"]
    assert quote["support"] == support and quote["verified"] == (support == "quoted")
    assert ("verifier_probability" in quote) == (support == "supported")
    assert "supported" not in quote and "probability" not in quote
    assert None not in [quote[name] for name in ("support", "verified", "overlap", "similarity")]
    assert "share" not in quote


def test_json_of_a_closest_passage_claims_no_support() -> None:
    values = as_json(Answer("When?", "…", closest=(CITATION,), abstained=True))
    (quote,) = json.loads(json.dumps(values))["closest"]
    assert not {"support", "verified", "supported", "probability", "overlap"} & quote.keys()
    assert quote["quote"] == CITATION.quote
