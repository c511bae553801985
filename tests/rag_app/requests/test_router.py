"""Which requests are read as what; a normal question is never read as anything else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.answer import ReadAs
from generator.prompt.follow_up import Turn
from generator.request import AskRequest
from indexing.documents import Occasion
from indexing.filter import Filter
from indexing.store.view import DocumentEntry
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.router import route

MEETINGS = ["heron-1-kick-off.vtt", "heron-2-interviews.txt", "heron-3-budget.srt"]
OTHERS = [
    "staff-handbook.html",
    "the-ferry-book.txt",
    "probe-supply-agreement.docx",
    "covid-19.pdf",
    "first-order-logic.md",
    "New York City.md",
    "budget.txt",
]


def entry(name: str) -> DocumentEntry:
    stem = name.rsplit(".", 1)[0]
    return DocumentEntry(stem, f"/files/{name}", "", stem, "text", 9, 9, 9, 1, "2026-01-01")


CATALOGUE = Catalogue(
    [entry(name) for name in [*MEETINGS, *OTHERS]], [name.rsplit(".", 1)[0] for name in MEETINGS]
)
ONE, TWO, THREE = (name.rsplit(".", 1)[0] for name in MEETINGS)
HANDBOOK, FERRY, AGREEMENT = "staff-handbook", "the-ferry-book", "probe-supply-agreement"

REQUESTS = [
    ("What documents do you have?", "documents", ()),
    ("Please list all the files.", "documents", ()),
    ("How many meetings have you indexed?", "documents", ()),
    ("Who attended heron-2?", "speakers", (TWO,)),
    ("Could you tell me who was at the second meeting?", "speakers", (TWO,)),
    ("How many people spoke in the kick-off?", "speakers", (ONE,)),
    ("Who attended heron-1 and heron-3?", "speakers", (ONE, THREE)),
    ("List the speakers", "speakers", ()),
    ("Which meetings mention e-paper?", "mentions", ()),
    ("How often does the staff handbook mention leave?", "mentions", (HANDBOOK,)),
    ("Does any document mention a helicopter?", "mentions", ()),
    ("Where is the ferry mentioned in the-ferry-book.txt?", "mentions", (FERRY,)),
    ("Summarize meeting-3", "summary", (THREE,)),
    ("Could you please give me a short summary of the supply agreement?", "summary", (AGREEMENT,)),
    ("What is the ferry book about?", "summary", (FERRY,)),
    ("What was discussed in heron-1?", "summary", (ONE,)),
    ("Summarize budget.txt", "summary", ("budget",)),
    ("Summarize the document budget", "summary", ("budget",)),
    ("What was decided in the third meeting?", "decisions", (THREE,)),
    ("What are the action items of heron-3-budget?", "decisions", (THREE,)),
]
LIMITED = [
    (
        "What did Ines say in heron-3 about the price?",
        (THREE,),
        "What did Ines say about the price?",
    ),
    ("In heron-3-budget.srt, why was the radio dropped?", (THREE,), "why was the radio dropped?"),
    ("What does the staff handbook say about leave?", (HANDBOOK,), "What is said about leave?"),
    ("Who spoke in the second meeting about AA cells?", (TWO,), "Who spoke about AA cells?"),
    ("Compare heron-1 and heron-3 on price", (ONE, THREE), "Compare heron-1 and heron-3 on price"),
    ("What is the dose in covid-19.pdf?", ("covid-19",), "What is the dose?"),
]
QUESTIONS = [
    "Why was the budget cut?",
    "Summarize the discussion about the battery",
    "Summarize the budget",
    "Summarize the whole meeting",
    "What was decided about the price?",
    "What did Ines say about the price after heron-3?",
    "How was the kick-off?",
    "Who was at the stand?",
    "What are the symptoms of covid-19?",
    "What are the formulas of first-order logic?",
    "How many people live in New York City?",
    "What is Heron about?",
    "How many documents did the author sign?",
    "Which meetings did the board refuse, and why?",
    "Who mentioned that volunteers forget to charge things?",
    "How many times was the launch moved?",
    "What did the group discuss in the evening?",
    "Which documents mention that the oven was cold and who said so?",
]


PEOPLE = Catalogue(
    [entry(name) for name in [*MEETINGS, *OTHERS]],
    [ONE, TWO, THREE],
    {ONE: frozenset({"Maren Osei", "Callum Adeyemi"}), TWO: frozenset({"Maren Osei"})},
)


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("What are all the action items assigned to Maren?", "actions of Maren Osei"),
        ("List all open tasks for Callum", "open actions of Callum Adeyemi"),
        ("What are Maren's action items?", "actions of Maren Osei"),
        ("What did Callum promise to do?", "actions of Callum Adeyemi"),
        ("Which decisions were changed?", "changed decisions"),
        ("What are all the decisions?", "decisions"),
        ("What was decided in all meetings?", "decisions and actions"),
        ("What is still open?", "open actions and questions"),
        ("Which questions are still open?", "open questions"),
        ("Welche Aufgaben hat Maren?", "actions of Maren Osei"),
        ("Welche offenen Fragen gibt es noch?", "open questions"),
        ("Was muss Callum noch erledigen?", "actions of Callum Adeyemi"),
    ],
)
def test_what_is_asked_of_all_meetings_is_read_as_a_request_for_the_register(
    question: str, read_as: str
) -> None:
    target = route(AskRequest(question), PEOPLE).target
    assert (target.kind, target.read_as) == ("decisions", f"a request for all {read_as}")


@pytest.mark.parametrize(
    "question",
    [
        "What are all the action items assigned to Boris?",  # nobody of this name
        "What are the tasks of the heart?",
        "What does the law have to do?",
        "What was decided?",
        "What are all the questions?",
        "List all actions of the hero",
        "What was Maren's idea?",
    ],
)
def test_what_only_looks_like_it_is_a_question(question: str) -> None:
    assert route(AskRequest(question), PEOPLE).target.kind == "question"


@pytest.mark.parametrize(("question", "kind", "documents"), REQUESTS)
def test_a_request_is_read_as_what_it_is(
    question: str, kind: str, documents: tuple[str, ...]
) -> None:
    target = route(AskRequest(question), CATALOGUE).target
    assert (target.kind, target.documents) == (kind, documents)
    assert target.read_as
    assert route(AskRequest(question, read_as="question"), CATALOGUE).target.kind == "question"


@pytest.mark.parametrize(("question", "documents", "query"), LIMITED)
def test_a_question_is_limited_to_the_documents_it_names(
    question: str, documents: tuple[str, ...], query: str
) -> None:
    found = route(AskRequest(question), CATALOGUE)
    assert found.target.kind == "question"
    assert found.target.read_as.startswith("a question about ")
    assert found.request.where.documents == documents
    assert (found.request.question, found.request.query) == (question, query)
    as_it_is = route(AskRequest(question, read_as="question"), CATALOGUE)
    assert as_it_is.request == AskRequest(question, read_as="question")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_normal_question_is_looked_up_as_it_is(question: str) -> None:
    found = route(AskRequest(question), CATALOGUE)
    assert (found.target.kind, found.target.read_as) == ("question", "")
    assert found.request == AskRequest(question)


@pytest.mark.parametrize(
    ("first", "then", "kind", "documents", "query"),
    [
        ("Who attended heron-1?", "And heron-2?", "speakers", (TWO,), "Who attended heron-2?"),
        ("Summarize the kick-off", "what about meeting 3?", "summary", (THREE,), None),
        ("Why was it cut in heron-3?", "And in heron-1?", "question", (ONE,), "Why was it cut?"),
        ("Why was it cut?", "and in the third meeting?", "question", (THREE,), "Why was it cut?"),
        ("Why was the budget cut?", "And by how much?", "question", (), None),
    ],
)
def test_a_follow_up_that_names_a_document_asks_the_same_of_it(
    first: str, then: str, kind: str, documents: tuple[str, ...], query: str | None
) -> None:
    found = route(AskRequest(then, history=(Turn(first, "…"),)), CATALOGUE)
    assert (found.target.kind, found.target.documents) == (kind, documents)
    assert query is None or found.request.query.startswith(query)
    assert found.request.question == then


def test_what_a_person_limits_stays_limited() -> None:
    where = Filter((HANDBOOK,))
    found = route(AskRequest("What did Ines say in heron-3?", where=where), CATALOGUE)
    assert found.request.where == where
    assert route(AskRequest("Summarize heron-3", where=where), CATALOGUE).target.documents == ()
    whole = route(AskRequest("Summarize the whole document", where=where), CATALOGUE)
    assert (whole.target.kind, whole.target.documents) == ("summary", (HANDBOOK,))


def test_a_language_model_writes_summaries_where_it_is_asked_to() -> None:
    found = route(AskRequest("Summarize heron-3", "free"), CATALOGUE)
    assert found.target.kind == "question"
    assert found.request.where.documents == (THREE,)
    assert route(AskRequest("Who attended heron-3?", "free"), CATALOGUE).target.kind == "speakers"


def test_names_of_one_series_are_numbers_only_if_all_meetings_are_in_it() -> None:
    names = ["heron-1.txt", "heron-2.txt", "finch-2.txt"]
    catalogue = Catalogue([entry(name) for name in names], ["heron-1", "heron-2", "finch-2"])
    assert catalogue.resolve("meeting 2") == ()
    assert catalogue.resolve("finch 2") == ("finch-2",)


def dated(id_: str, day: str) -> DocumentEntry:
    return replace(entry(f"{id_}.vtt"), occasion=Occasion(day, "file name"))


DATED = Catalogue(
    [dated("mast", "2026-03-14"), dated("price", "2026-05-12"), *map(entry, OTHERS)],
    ["mast", "price"],
    {"mast": frozenset({"Ada Park"}), "price": frozenset({"Ada Park", "Bob"})},
)


@pytest.mark.parametrize(
    ("question", "limits", "subject"),
    [
        ("What did we decide in March about it?", "of 2026-03", "What did we decide about it?"),
        ("In the meeting with Bob, who was late?", "with Bob", "who was late?"),
        ("What was it in the last meeting?", "of 2026-05-12", "What was it?"),
        ("Was haben wir im März dazu gesagt?", "of 2026-03", "Was haben wir dazu gesagt?"),
    ],
)
def test_a_time_in_a_question_is_a_limit_that_is_shown(
    question: str, limits: str, subject: str
) -> None:
    found = route(AskRequest(question), DATED)
    assert found.request.where.occasion_in_words() == limits
    assert found.request.query == subject
    assert found.read_as == f"a question, limited to 1 document {limits}"
    asked = route(AskRequest(question, read_as="question"), DATED)
    assert asked.request == AskRequest(question, read_as="question")


@pytest.mark.parametrize(
    ("question", "kind", "id_"),
    [
        ("Who attended the last meeting?", "speakers", "price"),
        ("What was decided in the meeting of 14 March?", "decisions", "mast"),
        ("Please summarize the meeting with Bob.", "summary", "price"),
        ("Wer war beim letzten Treffen dabei?", "speakers", "price"),
        ("Was wurde in der Sitzung vom 14. März beschlossen?", "decisions", "mast"),
        ("Bitte fasse das Gespräch mit Bob zusammen.", "summary", "price"),
    ],
)
def test_a_meeting_is_named_by_its_day_or_people(question: str, kind: str, id_: str) -> None:
    found = route(AskRequest(question), DATED)
    assert (found.target.kind, found.target.documents) == (kind, (id_,))
    assert "limited to 1 document" in found.read_as


def test_what_a_person_has_set_stays() -> None:
    where = Filter(since="2026-01", documents=("mast",))
    found = route(AskRequest("What did we decide in May?", where=where), DATED)
    assert (found.request.where, found.read_as) == (where, "")
    found = route(AskRequest("What was said in the last meeting?", where=Filter(("mast",))), DATED)
    assert found.request.where.since == "2026-03-14"  # the last of those that were chosen


@pytest.mark.parametrize("read_as", ["auto", "question"])
def test_nothing_of_that_time_is_said(read_as: ReadAs) -> None:
    where = Filter(since="2027-01")
    found = route(AskRequest("Who was late?", where=where, read_as=read_as), DATED)
    assert found.lines is not None and found.abstains
    assert "No document matches: since 2027-01" in found.lines[0].text
    assert found.read_as == ""  # the limit is that of whoever asks
    assert "of 2026-03-14 to 2026-05-12" in found.lines[0].text


def test_a_named_meeting_may_be_one_without_a_date() -> None:
    question = AskRequest("What was late in the meeting of 12 July?")
    found = route(question, DATED)
    assert found.abstains and found.everywhere is not None
    required = found.everywhere.required
    assert required is not None and required.search("on the 12th of July")
    assert not required.search("in July")
    entries = [*DATED.entries.values(), entry("undated.vtt")]
    found = route(question, Catalogue(entries, ["mast", "price", "undated"]))
    assert found.everywhere is not None and found.everywhere.request.where == Filter()
    assert found.everywhere.read_as.startswith("a question; no document of 2026-07-12 answers it")


def test_a_list_is_limited_too() -> None:
    found = route(AskRequest("What documents do you have?", where=Filter(until="2026-04")), DATED)
    assert found.target.documents == ("mast",)
