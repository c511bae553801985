"""Bytes on the command line that are not UTF-8 become lone surrogates; a question survives them."""

from __future__ import annotations

from generator.prompt.follow_up import Turn
from generator.request import AskRequest
from rag_app.corpus.corpus import Corpus

BROKEN = "When is the launch of Heron \udcff?"


def test_questions_with_lone_surrogates(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask(BROKEN, mode="quote")
    assert answer.citations and answer.question == "When is the launch of Heron ??"
    assert samples_corpus.search(BROKEN)
    request = AskRequest("And who said so?", history=(Turn(BROKEN, "\ud800"),))
    assert samples_corpus.answer(request).query.isprintable()
