"""Answers over a corpus that others change."""

from __future__ import annotations

from rag_app.corpus.corpus import Corpus


def test_hits_of_an_answer_are_of_one_moment(corpus: Corpus) -> None:
    """Between search and quoting, another process may change a document."""
    from generator.answer import AnswerReady

    answer = [e for e in corpus.stream("Where did probe 3 fall?") if isinstance(e, AnswerReady)]
    assert [a.answer.citations for a in answer] != [()]
    for citation in answer[-1].answer.citations:
        text = corpus.document(citation.document).text
        assert text[citation.start : citation.end] == citation.quote
