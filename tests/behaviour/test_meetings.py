"""Meetings of several months: limited by date and people, by option and by question, openly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import ContextReady, TextDelta
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from indexing.filter import Filter
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import read_questions
from rag_app.batch.run import run as run_batch
from rag_app.chat.language.current import Language, speaking
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page.html import hits
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

FILES = {
    "2026-03-14_standup.txt": "Ada Park: The mast fell last night.\nBob Stone: It was made of "
    "oak.\nAda Park: We decided to order a mast of steel.\n",
    "2026-05-12_standup.txt": "Ada Park: The mast of steel is late.\nCem Aydin: It was made in "
    "Bonn.\nAda Park: We agreed to wait until June.\n",
    "handbook.txt": "The mast is painted every spring. Leave is asked for in writing.\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("meetings")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder / name for name in FILES])
        yield corpus


def titles(corpus: Corpus, where: Filter) -> set[str]:
    found = {hit.title for hit in corpus.search("mast", where=where)}
    assert found == {one.title for one in corpus.documents(where=where)}
    return found


MARCH, MAY = "2026-03-14_standup", "2026-05-12_standup"


def test_search_and_list_keep_to_dates_and_people(corpus: Corpus) -> None:
    assert titles(corpus, Filter()) == {MARCH, MAY, "handbook"}
    assert titles(corpus, Filter(since="2026-03")) == {MARCH, MAY}
    assert titles(corpus, Filter(until="2026-04")) == {MARCH}
    assert titles(corpus, Filter(participants=("cem",))) == {MAY}
    assert titles(corpus, Filter(since="2027")) == set()
    assert corpus.search("mast", where=Filter(until="2026-04"))[0].day == "2026-03-14"


def test_a_question_that_names_a_month_is_answered_from_it(corpus: Corpus) -> None:
    answer = corpus.ask("What was said in March about the mast?")
    assert {one.title for one in (*answer.citations, *answer.closest)} == {MARCH}
    assert answer.read_as == "a question, limited to 1 document of 2026-03"
    assert answer.query == "What was said about the mast?"
    last = corpus.ask("Who attended the last meeting?")
    assert "Cem Aydin" in last.text and "Bob Stone" not in last.text


def test_where_nothing_matches_it_says_what_was_asked_for(corpus: Corpus) -> None:
    answer = corpus.ask("What was decided in the meeting of 12 July?")
    assert answer.abstained and not answer.citations
    assert answer.text == (
        "No document matches: dated 2026-07-12. Those with a date are of 2026-03-14 to 2026-05-12. "
        "1 has no date."
    )
    assert answer.read_as == "a question, limited to 0 documents of 2026-07-12"
    assert corpus.ask("Who paints the mast?", since="2027").read_as == ""  # the person's own limit
    where = ["--corpus", str(corpus.folder), "--since", "2027"]
    done = CliRunner().invoke(main, ["search", "mast", *where])
    assert done.exit_code == 0 and "No document matches: since 2027." in done.output
    done = CliRunner().invoke(main, ["search", "mast", *where[:-1], "soon"])
    assert done.exit_code == 1 and "is no date" in done.output


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"path": "*.nix"}, "files like *.nix"),
        ({"speaker": "Nobody"}, "spoken by Nobody"),
        (
            {"path": "*.nix", "speaker": "Nobody|No One"},
            "files like *.nix, spoken by Nobody or No One",
        ),
    ],
)
def test_where_no_file_or_speaker_matches_it_says_so(
    corpus: Corpus, limits: Any, said: str
) -> None:
    for question in ("Who paints the mast?", "What was decided in all meetings?"):
        answer = corpus.ask(question, **limits)
        assert answer.text == f"No document matches: {said}." and answer.abstained
        assert answer.probability is None and answer.read_as == ""
    assert corpus.nothing_matches(Filter(**limits)) == answer.text
    where = [word for name, value in limits.items() for word in (f"--{name}", value)]
    done = CliRunner().invoke(main, ["search", "mast", "--corpus", str(corpus.folder), *where])
    assert done.exit_code == 0 and answer.text in done.output
    with speaking(Language("de")):
        nothing = corpus.nothing_matches(Filter(**limits))
        assert translated(nothing).startswith("Kein Dokument passt: ")


def test_a_meeting_that_another_document_speaks_of(tmp_path: Path) -> None:
    (tmp_path / "report 2025-05-22.md").write_text(
        "At the June 3 meeting we vote on the night differential and on two candidates.\n", "utf-8"
    )
    (tmp_path / "minutes 2025-04-10.md").write_text("The oven was paid in April.\n", "utf-8")
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add(tmp_path.glob("*.md"))
        answer = corpus.ask("What was to be voted on at the June 3 meeting?")
        assert "night differential" in answer.citations[0].quote
        assert "no document of 2025-06-03 answers it" in answer.read_as
        nothing = corpus.ask("What was decided in the meeting of 12 July 2025?")
        assert nothing.abstained and nothing.text.startswith(
            "No document matches: dated 2025-07-12."
        )


def test_a_time_never_turns_an_answer_into_nothing(corpus: Corpus) -> None:
    question = "What did they say in March about writing for leave?"  # nothing, in March
    events = list(corpus.events(AskRequest(question)))
    answer = corpus.ask(question)
    assert not answer.abstained and answer.citations
    assert answer.read_as == "a question; no document of 2026-03 answers it, so all were searched"
    assert answer.query == question
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(texts) == answer.text
    assert [type(event) for event in events].count(ContextReady) == 1
    none = corpus.ask("What was decided in July?")  # of which there is no document
    assert none.abstained and none.text.startswith("No document matches: dated 2026-07.")
    nothing = corpus.ask("What did they say in March about the volcanoes of Iceland?")
    assert nothing.abstained and nothing.read_as.endswith("limited to 1 document of 2026-03")


def test_the_commands_take_the_options(corpus: Corpus, tmp_path: Path) -> None:
    where = ["--corpus", str(corpus.folder), "--json"]
    words = [
        "list",
        "--since",
        "2026-03",
        "--until",
        "2026-05",
        "--participant",
        "ada",
        "--with",
        "Cem",
    ]
    (entry,) = json.loads(CliRunner().invoke(main, [*words, *where]).output)
    assert entry["occasion"] == {
        "date": "2026-05-12",
        "date_source": "file name",
        "participants": [],
        "participants_source": "",
    }
    (tmp_path / "questions.txt").write_text("What is said about the mast?\n")
    out = tmp_path / "answers.jsonl"
    questions = read_questions(tmp_path / "questions.txt")
    run_batch(corpus, questions, out, options=BatchOptions({"until": "2026-04"}))
    (line,) = out.read_text().splitlines()
    cited = json.loads(line)["citations"] + json.loads(line)["closest"]
    assert {one["title"] for one in cited} == {MARCH}
    about = CliRunner().invoke(main, ["overview", MARCH, "--corpus", str(corpus.folder)]).output
    assert "date: 2026-03-14 (from the file name)" in about


def test_noise_is_hidden_and_the_quote_stays(tmp_path: Path, encoder: Encoder) -> None:
    said = "Um {disfmarker} the mast was made of {vocalsound} oak."
    (tmp_path / "a.txt").write_text(f"Ada: {said}\nBob: I see.\nAda: Good.")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path / "a.txt"])
        words = ["What was the mast made of?", "--corpus", str(corpus.folder)]
        for command in ("ask", "search"):
            printed = CliRunner().invoke(main, [command, *words]).output
            assert "disfmarker" not in printed and "mast was made of oak" in printed
            values = json.loads(CliRunner().invoke(main, [command, *words, "--json"]).output)
            if command == "ask":
                quote = (values["citations"] + values["closest"])[0]
                assert quote["quote"] == said and "{" not in quote["shown"]
            else:
                passage = values[0]["passages"][0]
                assert said in passage["text"] and "{" not in passage["shown"]
        (hit,) = corpus.search(words[0])
        assert "disfmarker" not in hits(corpus, [hit])
        corpus.speakers.rename("Ada", "Ada Park")
        assert "Ada Park:" in hits(corpus, corpus.search(words[0]))
