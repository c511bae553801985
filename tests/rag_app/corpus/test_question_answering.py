"""Answers over a corpus that others change."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from indexing.encoder.encoder import Encoder
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from rag_app.requests.router import Route, Router


def test_hits_of_an_answer_are_of_one_moment(corpus: Corpus) -> None:
    """Between search and quoting, another process may change a document."""
    from generator.answer import AnswerReady

    answer = [e for e in corpus.stream("Where did probe 3 fall?") if isinstance(e, AnswerReady)]
    assert [a.answer.citations for a in answer] != [()]
    for citation in answer[-1].answer.citations:
        text = corpus.document(citation.document).text
        assert text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize("shards", [1, 2])
def test_routing_and_search_read_one_moment(
    corpus: Corpus, encoder: Encoder, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    """Another process changes everything between the two, and the answer is as if it had not."""
    if shards > 1:
        corpus.divide(shards)
    question = "Where did the probe of harbour-log.md fall?"
    corpus.add_text("The probe fell into the harbour.", name="harbour-log.md")
    before = corpus.ask(question)
    route = Router.route

    def change() -> None:
        with Corpus(corpus.folder, encoder=encoder) as other:
            other.remove([one.id for one in other.documents()])
            other.add_documents([document("It fell into the sea.", name="harbour-log.md")])

    def routed_before_a_change(self: Router, *arguments: Any) -> Route:
        found = route(self, *arguments)
        writer = threading.Thread(target=change)
        writer.start()
        writer.join()
        return found

    monkeypatch.setattr(Router, "route", routed_before_a_change)
    answer = corpus.ask(question)
    assert answer.read_as
    assert (answer.text, answer.citations) == (before.text, before.citations)
    monkeypatch.undo()
    assert [one.quote for one in corpus.ask(question).citations] == ["It fell into the sea."]
