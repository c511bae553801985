"""Standing questions of conversations: whoever may read a new place is told of it, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from generator.answer import Citation
from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from indexing.filter import OWNER, Scope
from rag_app.chat.application import Application
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import login_key, new_key
from rag_app.chat.page import export
from rag_app.chat.page import html as view
from rag_app.chat.queues.standing import (
    MOST_IN_MESSAGE,
    MOST_PLACES,
    question_of,
    standing_in,
    with_told,
)
from rag_app.corpus.corpus import Corpus
from tests.waiting import wait_until

BUDGET = "Tell me when the budget comes up"


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("The budget is four hundred.", name="before")
        yield corpus


@pytest.fixture
def app(corpus: Corpus) -> Iterator[Application]:
    app = Application(corpus)
    yield app
    app.tellings.close()


def ask(
    app: Application, key: str, exchange: Exchange, reader: Scope = OWNER, chat: str = ""
) -> Conversation:
    before = app.conversations.get(key, chat) if chat else Conversation.new()
    assert before is not None
    app.jobs.start(key, before, exchange, reader)
    wait_until(lambda: app.jobs.of(before) is None)
    asked = app.conversations.get(key, before.id)
    assert asked is not None and asked.exchanges[-1].state == "done", asked
    return asked


def told(app: Application, key: str, chat: Conversation, reader: Scope = OWNER) -> list[str]:
    """The quotes that a conversation has been told, once all that is new was looked for."""
    app.tellings.look(key, reader)
    wait_until(lambda: app.tellings._worker is None)
    now = app.conversations.get(key, chat.id)
    assert now is not None
    return [
        each.quote
        for one in now.exchanges
        if one.told and one.answer
        for each in one.answer.citations
    ]


def test_each_new_place_is_told_once_in_its_conversation(app: Application, corpus: Corpus) -> None:
    key = new_key()
    chat = ask(app, key, Exchange(BUDGET))
    other = ask(app, key, Exchange("Sag mir, wenn der Mast zur Sprache kommt"))
    answer = chat.exchanges[0].answer
    assert answer and "is told here from now on" in answer.text and answer.kind == "standing"
    assert told(app, key, chat) == []
    corpus.add_text("Who cut it? The budgets were cut. The mast fell.", name="one", title="Day 1")
    assert told(app, key, chat) == told(app, key, chat) == ["The budgets were cut."]
    assert told(app, key, other) == ["The mast fell."]
    chat = ask(app, key, Exchange("When is the launch?"), chat=chat.id)
    assert [turn.question for turn in chat.turns()] == [BUDGET, "When is the launch?"]
    corpus.add_text("No budget, no mast. The budget, Ines said, is gone.", name="two")
    again = Application(corpus)  # after a restart
    assert told(again, key, chat)[1:] == ["No budget, no mast.", "The budget, Ines said, is gone."]
    now = app.conversations.get(key, chat.id)
    assert now is not None and now.exchanges[1].text == "Day 1: The budgets were cut. [1]"
    assert [one.told for one in now.exchanges] == [False, True, False, True]
    page = view.conversation(now, busy=False, checks=True)
    assert page.count("New: Tell me when") == 2 and page.count("Tell no more") == 1
    assert f"## New: {BUDGET}\n\nDay 1: The budgets were cut." in export.markdown(now)


def test_what_is_stopped_or_deleted_is_told_no_more(app: Application, corpus: Corpus) -> None:
    key = new_key()
    kept, gone = (ask(app, key, Exchange(BUDGET)) for _ in range(2))
    with pytest.raises(InvalidRequest):
        app.tellings.stop(new_key(), kept.id, kept.exchanges[0].standing)
    app.tellings.stop(key, kept.id, "another")
    corpus.add_text("One budget.", name="one")
    assert told(app, key, kept) == ["One budget."]
    name = kept.exchanges[0].standing
    stopped = app.tellings.stop(key, kept.id, name)
    assert "It stands no more." in view.conversation(stopped, busy=False, checks=True)
    app.tellings.delete(key, gone.id)
    corpus.add_text("Another budget.", name="two")
    assert told(app, key, kept) == ["One budget."]
    assert app.conversations.get(key, gone.id) is None


def test_killed_after_it_told_a_place_it_does_not_tell_it_twice(
    app: Application, corpus: Corpus
) -> None:
    key = new_key()
    chat = ask(app, key, Exchange(BUDGET))
    corpus.add_text("One budget. Two budgets. The same budget. The same budget.", name="one")
    exchange = chat.exchanges[0]
    for _ in range(3):  # each server dies before it remembers the last of what it has told
        with closing(question_of(corpus, exchange, OWNER).new()) as places:
            for told_of in islice(places, 2):
                place = told_of.citation
                app.jobs.update(key, chat.id, partial(_with, name=exchange.standing, place=place))
    every = ["One budget.", "Two budgets.", "The same budget.", "The same budget."]
    assert told(Application(corpus), key, chat) == every


def _with(chat: Conversation, name: str, place: Citation) -> Conversation:
    return with_told(chat, name, place)


def test_people_are_told_of_what_they_may_read(app: Application, corpus: Corpus) -> None:
    chats = {}
    for name in ("ann", "bob"):
        corpus.add_text("Good morning.", name=name, collection=f"of {name}")
        corpus.collections.give(f"of {name}", name)
        chats[name] = ask(app, login_key(name), Exchange(BUDGET), Scope(name))
    limited = Exchange(BUDGET, collections=("of ann",))
    narrow = ask(app, login_key("ann"), limited, Scope("ann"))
    for name in chats:
        corpus.add_text(f"Good morning. A budget of {name}.", name=name, collection=f"of {name}")
    corpus.add_text("A budget of all.", name="all")
    for name, chat in chats.items():
        quotes = told(app, login_key(name), chat, Scope(name))
        assert sorted(quotes) == ["A budget of all.", f"A budget of {name}."]
    assert told(app, login_key("ann"), narrow, Scope("ann")) == ["A budget of ann."]
    corpus.collections.give("of ann", "bob")
    corpus.add_text("The second budget.", name="late", collection="of ann")
    assert told(app, login_key("ann"), narrow, Scope("ann")) == ["A budget of ann."]
    assert told(app, login_key("ann"), chats["ann"], Scope("ann"))[2:] == []


def test_a_word_that_is_everywhere_stands_no_more() -> None:
    chat = Conversation.new().followed_by(Exchange(BUDGET, state="done", standing="it"))
    places = [Citation(0, "d", "", "D", "", at, at + 7, "Budget.") for at in range(MOST_PLACES + 9)]
    for place in places:
        chat = with_told(chat, "it", place)
    told = [one.answer.citations for one in chat.exchanges if one.told and one.answer]
    assert sum(map(len, told)) == MOST_PLACES and len(told) == MOST_PLACES / MOST_IN_MESSAGE
    assert not list(standing_in(chat))
