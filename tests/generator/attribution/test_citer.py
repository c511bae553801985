"""Which sentences a quote carries, judged case by case; the markers of a streamed answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from generator.answer import NOT_SAID, Citation
from generator.attribution import citer as citations
from generator.attribution.citer import Citer
from generator.attribution.entailment_rules import parse_sentence
from generator.attribution.markers import insert_markers
from generator.evidence import Embed, Sentence, Span, evidence_sentences
from tests.generator.conftest import prose, span, transcript

REPORT = prose(
    "The board approved a budget of 412,000 pounds for the Heron project on 3 March. "
    "Alice asked Bob to order twenty-five probes from the supplier in Leeds. "
    "The landlord must repair the roof within 30 days. "
    "The committee did not approve the second proposal. "
    "Sales rose by 12.5 percent in the north and fell in the south.\n\n"
    "The tenant pays the rent to the landlord on the first day of each month. "
    "Maintenance of the lifts is the duty of the owner."
)
MEETING = transcript(
    [
        ("Project Manager", "We want a remote control that costs twenty five euros."),
        ("Marketing", "Young people like a fancy look and feel."),
    ]
)

HOLD = [
    "The board approved a budget of 412,000 pounds for the Heron project.",
    "The board approved a budget of 412000 pounds on 3 March.",
    "Alice asked Bob to order 25 probes.",
    "Alice asked Bob to order probes from the supplier in Leeds.",
    "The landlord must repair the roof within 30 days.",
    "The committee didn't approve the second proposal.",
    "Sales rose by 12.50 percent in the north.",
    "The Project Manager wants a remote control that costs 25 euros.",
    "Young people like a fancy look.",
    "Maintenance of the lifts is a duty of the owner.",
]
DO_NOT_HOLD = [
    ("The board approved a budget of 421,000 pounds for the Heron project.", "number"),
    ("The board approved a budget of 412,000 pounds for the Osprey project.", "name"),
    ("The board approved a budget of 412,000 pounds for the Heron project on 4 March.", "number"),
    ("The board approved a budget of 412,000 pounds for the Heron project on 3 May.", "name"),
    ("The board did not approve a budget of 412,000 pounds for the Heron project.", "denial"),
    ("The board rejected a budget of 412,000 pounds for the Heron project.", "opposite"),
    ("Bob asked Alice to order twenty-five probes.", "order"),
    ("Carol asked Bob to order twenty-five probes.", "name at the start"),
    ("Alice asked Bob to order five probes.", "number word"),
    ("The landlord must repair the roof within 13 days.", "number"),
    ("The landlord must repair the roof within thirty weeks.", "unit"),
    ("The tenant must repair the roof within 30 days.", "who"),
    ("The committee approved the second proposal.", "denial"),
    ("The committee did not approve the first proposal.", "ordinal"),
    ("Sales fell by 12.5 percent in the north.", "opposite"),
    ("The landlord pays the rent to the tenant on the first day of each month.", "order"),
    ("Marketing wants a remote control that costs 25 euros.", "speaker"),
    ("The project was a great success and everyone was happy.", "invented"),
    ("Yes.", "nothing said"),
    ("roof landlord repair days 30 must", "word salad"),
]


def attribute(
    answer: str, spans: Sequence[Span], embed: Embed, *, question: str = ""
) -> tuple[tuple[Citation, ...], tuple[str, ...]]:
    """The citations by rules alone, and the sentences without a quote."""
    citer = citations.attribute(answer, spans, embed, question=question)
    return tuple(citer.citations), tuple(citer.unsupported)


@pytest.mark.parametrize("sentence", HOLD)
def test_supported(sentence: str, embed: Embed) -> None:
    citations, unsupported = attribute(sentence, [span(REPORT), span(MEETING)], embed)
    assert [citation.verified for citation in citations] == [True]
    assert unsupported == ()
    document = {"report": REPORT, "meeting": MEETING}[citations[0].document]
    assert document.text[citations[0].start : citations[0].end] == citations[0].quote
    assert citations[0].overlap >= 0.75
    assert citations[0].similarity >= 0.5


@pytest.mark.parametrize(("sentence", "why"), DO_NOT_HOLD)
def test_unsupported(sentence: str, why: str, embed: Embed) -> None:
    citations, unsupported = attribute(sentence, [span(REPORT), span(MEETING)], embed)
    assert not any(citation.verified for citation in citations), why
    assert unsupported == (sentence,)


HERON = prose(
    "So: the launch moves from the thirtieth of March to Monday the eleventh of May.",
    name="heron-5-field-trial",
)


def test_a_title_names_what_a_document_is_about(embed: Embed) -> None:
    sentence = "The launch of Heron is now on Monday the eleventh of May."
    citations, unsupported = attribute(sentence, [span(HERON)], embed)
    assert [one.verified for one in citations] == [True] and unsupported == ()


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("The launch moves to Monday the eleventh of May.", True),
        ("The launch of Heron is now scheduled for Monday, the eleventh of May.", True),
        ("According to the evidence, the launch moves to Monday the eleventh of May.", True),
        ("The evidence states that the launch is on Monday the eleventh of May.", True),
        ("According to the evidence, the launch moves to Monday the twelfth of May.", False),
        ("The launch moves from the thirtieth of March.", True),
        ("The launch of Heron is on the thirtieth of March.", False),
        ("The launch of Osprey is now on Monday the eleventh of May.", False),
    ],
)
def test_what_was_before_a_change_is_not_so(sentence: str, holds: bool, embed: Embed) -> None:
    citations, _ = attribute(sentence, [span(HERON)], embed)
    assert any(one.verified for one in citations) == holds


MINUTES = prose(
    "The weight limit goes up from two hundred and ten to two hundred and twenty-five grams.\n\n"
    "The launch moves to Monday the eleventh of May.\n\n"
    "The old resin cured at sixty-five, and nobody would ever have known.\n\n"
    "Purchases are not expenses: orders of more than 5,000 pounds go to finance.\n\n"
    "The council did not change the budget, the opening hours or the rent.\n\n"
    "The ferry was sold to the islanders. No, that is not true.\n\n"
    "The bridge was approved by nobody."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The weight limit goes up from 210 to 225 grams.",
        "The launch moves to Monday 11 May.",
        "The old resin cured at 65.",
        "Orders of more than five thousand pounds go to finance.",
        "The council did not change the opening hours.",
        "The ferry was sold to the islanders.",  # by the sentence alone
    ],
)
def test_facts_that_are_written_otherwise(sentence: str, embed: Embed) -> None:
    citations, unsupported = attribute(sentence, [span(MINUTES)], embed)
    assert [citation.verified for citation in citations] == [True]
    assert unsupported == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "The weight limit goes up from 225 to 210 grams.",
        "The weight limit goes up from 200 to 225 grams.",
        "The launch moves to Monday 1 May.",
        "The launch moves to Monday 11 March.",
        "The old resin never cured at 65.",
        "Purchases are expenses.",
        "The council did change the opening hours.",
        "The council changed the rent.",
        "The bridge was approved.",
    ],
)
def test_denials_and_numbers_that_tell_otherwise(sentence: str, embed: Embed) -> None:
    citations, unsupported = attribute(sentence, [span(MINUTES)], embed)
    assert not any(citation.verified for citation in citations)
    assert unsupported == (sentence,)


def test_only_what_was_shown_is_cited(embed: Embed) -> None:
    end = REPORT.text.index("The landlord must")
    citations, unsupported = attribute(HOLD[4], [Span(REPORT, 0, end, 1.0)], embed)
    assert citations == ()
    assert unsupported == (HOLD[4],)
    assert attribute(HOLD[4], [], embed) == ((), (HOLD[4],))


def test_quote_may_run_over_two_sentences(embed: Embed) -> None:
    document = prose("The case is made of rubber. It costs nine euros.")
    citations, _ = attribute(
        "The case is made of rubber and costs nine euros.", [span(document)], embed
    )
    assert [citation.quote for citation in citations if citation.verified] == [document.text]


def test_a_quote_never_spans_what_was_not_shown(embed: Embed) -> None:
    first, last = "The case is made of rubber.", "It costs nine euros."
    document = prose(f"{first}\nWe met at noon.\nNobody was late.\n{last}")
    ends = [
        Span(document, document.text.index(each), document.text.index(each) + len(each), 1.0)
        for each in (first, last)
    ]
    claim = "The case is made of rubber and costs nine euros."
    citations, unsupported = attribute(claim, ends, embed)
    assert all(each.quote in (first, last) for each in citations) and unsupported == (claim,)


COUNTS = prose(
    "The field trial is planned for the summer and takes eleven days.\n\n"
    "Eleven days.\n\n"
    "Of the first forty probes, eleven drifted by more than two per cent."
)


def test_a_word_is_verified_by_a_quote_about_its_question(embed: Embed) -> None:
    """Alone, "Eleven." is carried by whatever has that number."""
    question = "How many of the first forty probes drifted too much?"
    (alone,), _ = attribute("Eleven.", [span(COUNTS)], embed)
    assert alone.quote == "Eleven days."
    (citation,), unsupported = attribute("Eleven.", [span(COUNTS)], embed, question=question)
    assert citation.verified and unsupported == ()
    assert citation.quote.startswith("Of the first forty probes, eleven drifted")
    without = [Span(COUNTS, 0, COUNTS.text.index("Of the first"), 1.0)]
    citations, unsupported = attribute("Eleven.", without, embed, question=question)
    assert not any(each.verified for each in citations) and unsupported == ("Eleven.",)


def test_a_reply_is_about_the_question_before_it(embed: Embed) -> None:
    said = transcript(
        [
            ("Ann", "How many of the first forty probes drifted too much?"),
            ("Bob", "Eleven of them."),
        ]
    )
    question = "How many of the forty probes drifted?"
    (citation,), _ = attribute("Eleven.", [span(said)], embed, question=question)
    assert "Eleven of them." in citation.quote and citation.speaker == "Bob"
    assert citation.verified


def test_speaker_time_and_place_come_along(embed: Embed) -> None:
    (citation,), _ = attribute(HOLD[8], [span(MEETING)], embed)
    assert (citation.speaker, citation.time) == ("Marketing", 10.0)
    assert (citation.path, citation.title, citation.marker) == ("/meeting.vtt", "Meeting", 1)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("It cost 1,250.50 pounds.", ("1250.5",)),
        ("Twenty five people, then thirty.", ("25", "30")),
        ("In twenty-five days", ("25",)),
        ("He met Bob Smith on the third.", ("bob", "smith", "#3")),
        ("What F said about 007", ("f", "7")),
        ("9" * 5000 + " things", ("9" * 5000,)),
    ],
)
def test_facts(text: str, facts: tuple[str, ...]) -> None:
    assert parse_sentence(text, ordinary={"it", "in", "he", "what", "twenty"}).facts == facts


# --- markers in a stream ------------------------------------------------------------------------


def by_character(text: str) -> Iterator[str]:
    yield from text


def test_markers_follow_their_sentences(embed: Embed) -> None:
    answer = f"{HOLD[4]} The roof is made of gold. {HOLD[4][:-1]}, says the contract."
    citer = Citer([span(REPORT)], embed)
    pieces = list(insert_markers(by_character(answer), citer))
    text = "".join(pieces)
    assert text.startswith(f"{HOLD[4]} [1] The roof is made of gold.")
    assert citer.unsupported[0] == "The roof is made of gold."
    assert text.count("[unsupported]") == len(citer.unsupported)
    assert len(pieces) > 40
    whole = "".join(insert_markers([answer], Citer([span(REPORT)], embed)))
    assert whole == text


def test_markers_of_the_model_are_dropped(embed: Embed) -> None:
    answer = "The landlord must repair the roof [7] within 30 days [12]. [3]"
    text = "".join(insert_markers(by_character(answer), Citer([span(REPORT)], embed)))
    assert text == f"{HOLD[4]} [1]"


@pytest.mark.parametrize("nested", ["[1[2]]", "[[3]1]", "[1[[2]2]]", "[unsup[2]ported]"])
@pytest.mark.parametrize("whole", [True, False])
def test_markers_within_markers_leave_none(embed: Embed, nested: str, whole: bool) -> None:
    answer = f"The landlord must repair the roof {nested} within 30 days."
    pieces = [answer] if whole else by_character(answer)
    text = "".join(insert_markers(pieces, Citer([span(REPORT)], embed)))
    assert text.count("[") == 1 and text.endswith(" [1]")


def test_repetition_ends_the_answer(embed: Embed) -> None:
    text = "".join(
        insert_markers(by_character(" ".join([HOLD[4]] * 5)), Citer([span(REPORT)], embed))
    )
    assert text == f"{HOLD[4]} [1]"


def test_abstaining_needs_no_quote(embed: Embed) -> None:
    citer = Citer([span(REPORT)], embed)
    assert "".join(insert_markers(by_character(NOT_SAID), citer)) == NOT_SAID
    assert citer.unsupported == []


def test_evidence_is_taken_apart_after_the_first_words(
    embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def counting(spans: Iterable[Span]) -> list[Sentence]:
        asked.append(spans)
        return evidence_sentences(spans)

    monkeypatch.setattr(citations, "evidence_sentences", counting)
    pieces = insert_markers(by_character(f"{HOLD[4]} {HOLD[4]}"), Citer([span(REPORT)], embed))
    assert next(pieces) and not asked
    assert "[1]" in "".join(pieces) and len(asked) == 1


def test_a_month_comes_after_its_day_and_after_no_other_number() -> None:
    days = ("July 17th, 2025", "the seventeenth of July 2025", "17 July 2025")
    norms = {
        tuple(each for each in parse_sentence(day).norms if each not in {"the", "of"})
        for day in days
    }
    assert norms == {("17", "juli", "2025")}
    assert parse_sentence("On 17 July 20 people came.").norms[1:5] == ("17", "juli", "20", "peopl")
