"""Thirty ordinary requests of the sample documents: what each is read as, and what it must say."""

from __future__ import annotations

import re

import pytest

from generator.answer import Answer
from generator.answer_json import as_json
from generator.prompt.follow_up import Turn
from rag_app.chat.conversation import Conversation, Exchange, from_json, to_json
from rag_app.chat.page import html
from rag_app.chat.web.mcp import results
from rag_app.cli import printing
from rag_app.corpus.corpus import Corpus

SHARE = re.compile(r", (\d+)% of the words")

REQUESTS = [
    ("What documents do you have?", "documents", ["11 documents:", "the-ferry-book (text, 2,131"]),
    ("How many meetings do you have?", "documents", ["6 transcripts:", "heron-3-budget (srt"]),
    ("Could you please list all the files?", "documents", ["11 documents:"]),
    ("What can I ask you about?", "documents", ["11 documents:"]),
    ("Who attended heron-2?", "speakers", ["6 people speak", "Greta Nowak, ", "charge me"]),
    ("Who was at the kick-off?", "speakers", ["7 people speak in heron-1-kick-off"]),
    ("How many people spoke in meeting 6?", "speakers", ["8 people", "Josephine Brackendale, "]),
    ("Who spoke the most in the third meeting?", "speakers", ["in heron-3-budget", "\nMaren Osei"]),
    ("List the speakers", "speakers", ["8 speakers:", "Ines Duarte, in 5 documents"]),
    ("How many times is Bluetooth mentioned?", "mentions", ["7 times in 4 of 11 documents"]),
    ("Which meetings mention the oven?", "mentions", ["heron-6-last-of-the-year, 7 times"]),
    ("Which documents mention Penmarsh?", "mentions", ["State of the Ellmere 2024, "]),
    ("How often does the staff handbook mention leave?", "mentions", ["in 1 of 1 document"]),
    ("Does any document mention a helicopter?", "mentions", ["not mentioned in any of 11 docum"]),
    ("Where is the ferry mentioned in the ferry book?", "mentions", ["“ferry” is mentioned"]),
    ("Summarize heron-3", "summary", ["heron-3-budget: 4,", "Maren Osei 30%", "On "]),
    ("Please give me a short summary of the supply agreement.", "summary", ["Probes: 4,", "On "]),
    ("What is the ferry book about?", "summary", ["the-ferry-book: 2,", "ferry"]),
    ("What was discussed in the second meeting?", "summary", ["heron-2-interviews: 2,"]),
    ("What are the action items of heron-5?", "decisions", ["heron-5-field-trial, in", "To do"]),
    (
        "What was decided about the launch in heron-3-budget.srt?",
        "question",
        ["thirtieth of March"],
    ),
    ("In the fifth meeting, why were the cells changed?", "question", []),
    ("What does the staff handbook say about wading?", "question", ["wading"]),
    ("What was the mean nitrate at Lythe Quay in heron-1?", "question", []),
    ("How many fish died in the slurry spill?", "question", ["1,163"]),
    ("What caused the Shoreline outage?", "question", []),
    ("Is wading allowed in winter?", "question", ["wad"]),
    ("Why was the budget cut?", "question", ["Finch warranty reserve"]),
    ("Summarize the discussion about the battery door", "question", ["battery"]),
    (
        "What did Ines and Greta say about the price?",
        "question",
        ["Greta Nowak: "],
    ),
]


def test_there_are_thirty() -> None:
    assert len(REQUESTS) == len({request for request, _, _ in REQUESTS}) == 30


@pytest.mark.parametrize(("request_", "kind", "wanted"), REQUESTS)
def test_a_request_is_answered_by_its_kind(
    samples_corpus: Corpus, request_: str, kind: str, wanted: list[str]
) -> None:
    answer = samples_corpus.ask(request_)
    assert answer.kind == kind
    assert not [words for words in wanted if words not in answer.text], answer.text
    for each in answer.citations:
        assert samples_corpus.document(each.document).text[each.start : each.end] == each.quote
        assert f"{' '.join(each.quote.split())} [{each.marker}]" in answer.text
        assert each.verified


def test_a_request_about_a_document_says_which_and_looks_nowhere_else(
    samples_corpus: Corpus,
) -> None:
    answer = samples_corpus.ask("What was decided about the launch in heron-3-budget.srt?")
    assert answer.read_as == "a question about heron-3-budget"
    assert {each.title for each in answer.citations} == {"heron-3-budget"}


def test_shares_of_speakers_are_those_of_their_words(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask("Who attended heron-3?")
    document = samples_corpus.document("heron-3-budget")
    assert [each.speaker for each in answer.citations] == [
        line.split(",")[0] for line in answer.text.split("\n")[1:]
    ]
    assert {one.speaker for one in document.utterances} == {e.speaker for e in answer.citations}
    shares = [int(share) for share in SHARE.findall(answer.text)]
    assert shares == sorted(shares, reverse=True)
    assert abs(sum(shares) - 100) <= len(shares) / 2


def test_the_same_is_asked_of_another_meeting(samples_corpus: Corpus) -> None:
    first = samples_corpus.ask("Who attended heron-1?")
    then = samples_corpus.ask("And meeting 6?", history=[Turn(first.question, first.text)])
    assert then.read_as == "a request for the speakers of heron-6-last-of-the-year"
    assert "Josephine Brackendale" in then.text


def test_any_request_can_be_looked_up_as_a_question(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask("Who attended heron-2?", read_as="question")
    assert (answer.kind, answer.read_as, answer.query) == ("question", "", "Who attended heron-2?")


@pytest.mark.parametrize("read_as", ["", "a request for the speakers of heron-2"])
def test_every_surface_says_what_a_question_was_read_as(
    capsys: pytest.CaptureFixture[str], read_as: str
) -> None:
    answer = Answer("Who?", "2 people speak:", kind="speakers", read_as=read_as)
    exchange = Exchange("Who?", state="done", text=answer.text, answer=answer)
    conversation = Conversation("0" * 16, "2026-11-22T00:00:00+00:00", (exchange,))
    printing.sources(answer)
    page = html.conversation(conversation)
    for text in (capsys.readouterr().out, page):
        assert (f"read as: {read_as}" in text) == bool(read_as)
    for values in (as_json(answer), results.answer_result(answer).model_dump()):
        assert (values["kind"], values["read_as"]) == ("speakers", read_as)
    assert conversation == from_json(to_json(conversation))
