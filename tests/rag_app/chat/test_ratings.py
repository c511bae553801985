"""Rated answers as a question file that `rag-app evaluate answers` takes."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from generator.request import AskRequest
from rag_app.chat.application import CHATS
from rag_app.chat.conversation import Conversation, Exchange, Rating
from rag_app.chat.conversation_store import ConversationStore, login_key, new_key
from rag_app.chat.ratings import question_lines
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.labelled_questions import load_questions

FERRY = "The ferry sails at nine o'clock.\u2028Its captain is Joan Reyes."


def asked(corpus: Corpus, question: str, rating: Rating) -> Exchange:
    answer = corpus.answer(AskRequest(question, "quote"))
    return Exchange(question, "quote", (), "done", answer.text, answer, rating=rating)


def test_rated_answers_are_a_benchmark_of_the_corpus_they_were_given_from(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with Corpus(folder) as corpus:
        corpus.add_text(FERRY, name="ferry")
        good = asked(corpus, "When does the ferry sail?", "up")
        withheld = asked(corpus, "Which vaccine did the hospital of Zanzibar order?", "up")
        bad = asked(corpus, "Who is the captain of the ferry?", "down")
        other = asked(corpus, "When does the ferry sail?", "")
    assert good.answer and good.answer.citations and withheld.answer and withheld.answer.abstained
    conversation = Conversation.new()
    for exchange in (good, withheld, bad, other):
        conversation = conversation.followed_by(exchange)
    store = ConversationStore(folder / CHATS)
    store.save(login_key("ann"), conversation)
    store.save(new_key(), Conversation.new().followed_by(good))

    file = tmp_path / "elsewhere" / "rated.jsonl"
    file.parent.mkdir()
    (file.parent / "private.txt").write_text("This is not of the corpus.")
    run = CliRunner().invoke(
        main, ["ratings", "--corpus", str(folder), "--login", "ann", "--out", str(file)]
    )
    assert run.exit_code == 0 and "3 rated answers" in run.stderr
    first, second, third = map(json.loads, file.read_text("utf-8").splitlines())
    (citation,) = good.answer.citations
    assert first["evidence"] == [
        {"path": citation.path.rsplit("/", 1)[-1], "part": "", "quote": citation.quote,
         "speaker": None}
    ]  # fmt: skip
    assert "[1]" not in first["answer"] and first["answerable"] and first["rated"] == "up"
    assert first["configuration"] == good.answer.configuration
    assert not second["answerable"] and not second["evidence"]
    assert third["evidence"] == [] and third["rejected"] and third["answer"] == ""

    with Corpus(folder) as corpus:
        questions = load_questions(file, corpus)
        assert [each.question for each in questions] == [good.question, withheld.question]
        (gold,) = questions[0].gold
        assert (gold.start, gold.end) == (citation.start, citation.end)
        assert not questions[1].answerable
        assert len(corpus.documents()) == 1  # what lies beside the file is not the corpus's
        file.write_text(json.dumps({**third, "answer": "Joan Reyes"}) + "\n")
        assert [each.reference for each in load_questions(file, corpus)] == ["Joan Reyes"]

    run = CliRunner().invoke(main, ["ratings", "--corpus", str(folder)])
    assert len(run.stdout.splitlines()) == 4
    run = CliRunner().invoke(main, ["ratings", "--corpus", str(tmp_path / "mistyped")])
    assert run.exit_code == 1 and "no corpus here" in run.stderr


def test_only_what_was_rated_is_a_question() -> None:
    conversation = Conversation.new().followed_by(Exchange("Why?", state="done", text="So."))
    assert list(question_lines([conversation])) == []
    (line,) = question_lines([conversation.rated(0, "down")])
    assert json.loads(line)["question"] == "Why?"
    assert list(question_lines([conversation.rated(0, "up").rated(0, "up")])) == []
