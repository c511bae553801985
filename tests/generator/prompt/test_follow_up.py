"""Follow-up questions: which lean on what was said before, and what they are completed with."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.prompt.follow_up import (
    LONG,
    Turn,
    is_follow_up,
    question_within,
    standalone_question,
)
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus

FOLLOW_UPS = [
    "And who disagreed?",
    "and by how much?",
    "But why?",
    "Why?",
    "Who disagreed?",
    "What about the price?",
    "Who found it out?",
    "Why had nobody noticed it before?",
    "How much do they have now?",
    "What was his name?",
    "Why did they change it?",
    "How deep is it?",
    "Which clause did they use for that?",
    "What fee is due for that?",
    "What single measure would have prevented that?",
    "How far apart are they?",
    "When else is it forbidden?",
    "What else did Greta ask for?",
    "Where did that happen?",
    "Why did it wipe readings of live accounts?",
    "Couldn't it be pulled forward?",
    "Is it cheaper?",
    "Which one?",
    "Who said this?",
    "Did Ben agree with those?",
    "And the others?",
    "what was the score at that point",
    "Who was the chair at that time?",
    "What happened to the man before her?",
    "Which firm was there after that?",
]
STAND_ALONE = [
    "Why was the budget cut?",
    "What is Heron?",
    "What did Greta Nowak say about her batteries?",
    "What did the team think about the remote when they tested it?",
    "Why did the meters die in the cold although they had been charged?",
    "How do people get stored readings out of the meter?",
    "Is it true that the ferry sank?",
    "Is there a lift in the building?",
    "Who said that the ferry is too slow?",
    "What did the Project Manager decide about that remote control's case?",
    "When must carried-over holiday be used up?",
    "Which fish pass does the Trust now recommend at Brayle Mill and which did it want before?",
    "Is wading allowed in winter?",
    "Summarize the discussion about the marketing strategy.",
    "What did the mayor say before the vote on her budget?",
    "Who promised that the point would be discussed?",
    "Did Priya change her mind about battery doors, and what convinced her?",
]


GERMAN_FOLLOW_UPS = [
    "Und im Mai?",
    "Und wer?",
    "Und wer war dagegen?",
    "Warum?",
    "Wer war dagegen?",
    "Was ist mit dem Preis?",
    "Wie hoch ist er?",
    "Warum wurde er abgelehnt?",
    "Wann tritt sie ihr Amt an?",
    "Wer hat das beschlossen?",
    "Was kostet das?",
    "Wer trägt die Kosten dafür?",
    "Seit wann?",
    "Und die anderen?",
    "Wie viele Leute passen da rein?",
    "Wie hoch war der Preis damals?",
    "Was hat Ada dort gekauft?",
]
GERMAN_STAND_ALONE = [
    "Warum wurde der Haushalt gekürzt?",
    "Wann ist die Bibliothek geschlossen?",
    "Was sagte Greta Nowak über ihre Batterien?",
    "Wie hoch sind die Kosten für die Sanierung der Brücken?",
    "Gibt es einen Aufzug im Gebäude?",
    "Wer wurde zur Leiterin des Bauamts gewählt?",
    "Ist das Rathaus am Samstag geöffnet?",
    "Warum hat die Stadt den Antrag abgelehnt, obwohl sie ihn geprüft hat?",
    "Wer leitet das Projekt?",
    "Was ist Heron?",
    "Warum kommt Ada nicht, da sie doch eingeladen ist?",
    "Was steht in der Datei?",
]


@pytest.mark.parametrize("question", GERMAN_FOLLOW_UPS)
def test_german_follow_ups_lean(question: str) -> None:
    assert is_follow_up(question)


@pytest.mark.parametrize("question", GERMAN_STAND_ALONE)
def test_german_questions_of_their_own_do_not(question: str) -> None:
    assert not is_follow_up(question)


def test_a_german_follow_up_is_completed_with_what_it_follows() -> None:
    before = Turn("Wie hoch war der Haushalt des Museums im März?", "320.000 Euro [1]")
    assert standalone_question("Und im Mai?", [before]) == "Und im Mai? (hoch Haushalt Museums)"
    assert standalone_question("Und wer?", [before]).startswith("Und wer? (")


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_follow_ups_lean(question: str) -> None:
    assert is_follow_up(question)


@pytest.mark.parametrize("question", STAND_ALONE)
def test_whole_questions_stand_alone(question: str) -> None:
    assert not is_follow_up(question)
    assert standalone_question(question, [Turn("Why was it cut?", "Because.")]) == question


def test_a_follow_up_is_completed_with_what_it_follows() -> None:
    history = [
        Turn("What is the ferry's top speed?", "Nine knots."),
        Turn("Why was the budget cut?", ""),
    ]
    assert standalone_question("And who disagreed?", history) == "And who disagreed? (budget cut)"
    assert standalone_question("And who disagreed?", []) == "And who disagreed?"


def test_a_chain_goes_back_to_the_question_that_stands_alone() -> None:
    history = [
        Turn("What is the ferry's top speed?", ""),
        Turn("Why did Brackendale lose the contract?", ""),
        Turn("And who disagreed?", ""),
    ]
    wanted = "How often? (Brackendale lose contract disagreed)"
    assert standalone_question(" How often? ", history) == wanted


def test_nothing_is_said_twice() -> None:
    history = [Turn("Why was the budget cut?", "")]
    assert standalone_question("Who wanted it cut?", history) == "Who wanted it cut? (budget)"
    assert standalone_question("Was it the budget that they cut?", history).count("budget") == 1


def test_chains_end() -> None:
    history = [Turn("Why?", "")] * 100
    assert standalone_question("And then?", history) == "And then?"
    long = [Turn(f"And word{i}?", "") for i in range(100)]
    assert standalone_question("And then?", long) == "And then? (word96 word97 word98 word99)"


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("How long is Pike's warranty from Pike Ltd?", "and from Lakeside", "long Pike's warranty"),
        ("How much did DryRight quote for ceilings?", "And Milt's?", "much quote ceilings"),
        ("What guarantee is there on the frames?", "And on the glass?", "guarantee"),
        ("When was the launch of Heron in May?", "and in October?", "launch Heron"),
        ("Wie lange stand der Kran im April still?", "und im Juli?", "lange stand Kran"),
        ("How much is the fine for a yellow card now?", "and a red?", "much fine"),
        ("When did Ada show Bob the plan?", "and Cem?", "Ada show Bob plan"),
        ("How high is the fee of the journal?", "and who pays it?", "high fee journal"),
    ],
)
def test_what_a_follow_up_without_a_verb_replaces_is_left_out(
    before: str, question: str, query: str
) -> None:
    assert standalone_question(question, [Turn(before, "")]) == f"{question} ({query})"


@pytest.mark.parametrize(
    ("before", "answer", "question", "query"),
    [
        (
            "Who writes the music?",
            "The music is by Sìne MacCuish. [1]\n\nNobody else. [2]",
            "how much does she get for it",
            "writes music Sìne MacCuish",
        ),
        (
            "Who leads it?",
            "Ada: From May on Bob Stone leads. [1]",
            "When did he start?",
            "leads Bob Stone",
        ),
        (
            "Wer leitet das Fest?",
            "Das Fest leitet Timo Lauxmann. [1]",
            "Seit wann ist er da?",
            "leitet Fest Timo Lauxmann",
        ),
        ("Who leads it?", "Bob Stone leads it. [1]", "And what does it cost?", "leads"),
        ("What leads to Bob?", "Ada Park does. [1]", "And does she know?", "leads Bob"),
        ("Who leads it?", "", "And when did she start?", "leads"),
    ],
)
def test_she_is_who_the_answer_named(before: str, answer: str, question: str, query: str) -> None:
    assert standalone_question(question, [Turn(before, answer)]) == f"{question} ({query})"


PREAMBLE = (
    "Good morning everybody, I hope that you are all well and that the move went as planned. "
    "I was away for most of the autumn and have not read all that was sent around since, for "
    "which I am sorry, and my colleague has left me a pile of papers that is as high as the desk. "
    "On Tuesday the people from the harbour office rang, who were rather cross with us. "
    "They talked about the blue ferry that Maren Holm painted. "
)


def test_a_short_question_is_itself() -> None:
    question = "We met in May. Who paid for it?"
    assert question_within(f" {question} ") == (question, ())


@pytest.mark.parametrize("thanks", ["", " Thank you very much for your help."])
def test_the_last_sentence_that_asks_is_the_question(thanks: str) -> None:
    message = f"{PREAMBLE}How much did the paint cost?{thanks}"
    assert len(message.split()) >= LONG
    question, words = question_within(message)
    assert question == AskRequest(message).asked == "How much did the paint cost?"
    assert {"ferry", "maren", "holm"} <= {word.lower() for word in words}
    assert AskRequest(message).query == f"{question} ({' '.join(words)})"


def test_a_message_that_asks_nothing_stays_whole() -> None:
    message = "The ferry is blue. " * 30
    assert question_within(message) == (message.strip(), ())
    long = "Why " + "and why " * 80 + "is it so?"
    assert question_within(f"{PREAMBLE}{long}") == (f"{PREAMBLE}{long}", ())


def test_a_long_preamble_loses_no_answer(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        corpus.add_text(
            "The paint for the blue ferry cost 310 euros. Maren Holm painted her in June. "
            "The harbour office wants the mooring to be free by noon on Fridays.",
            name="ferry",
        )
        answer = corpus.ask(PREAMBLE * 5 + "How much did the paint cost?", mode="quote")
    assert not answer.abstained
    assert "310 euros" in answer.citations[0].quote
