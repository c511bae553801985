"""Whom a removal concerns: those who lose the document, and conversations that quote it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.answer import Answer, Citation
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import ConversationStore, login_key, new_key
from rag_app.chat.removal_notice import RemovalNotices
from rag_app.corpus.corpus import Corpus

TEXT = "The stork counts begin in May."
PEOPLE = ("ann", "bob", "carol")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("corpus")) as corpus:
        for person in ("ann", "bob"):
            corpus.collections.create(person, owner=person)
        corpus.add_text(TEXT, name="stork", collection="ann")
        yield corpus


def quoting(store: ConversationStore, key: str, document: str) -> None:
    citation = Citation(1, document, "stork", "stork", "", 0, len(TEXT), TEXT, verified=True)
    answer = Answer("When?", f"{TEXT} [1]", citations=(citation,))
    done = Exchange("When?", state="done", text=answer.text, answer=answer)
    store.save(key, Conversation.new().followed_by(done))


def test_those_are_named_who_lose_it(corpus: Corpus, tmp_path: Path) -> None:
    store = ConversationStore(tmp_path)
    (document,) = [one.id for one in corpus.documents()]
    notices = RemovalNotices(corpus, store, PEOPLE)

    def text(person: str) -> str:
        return notices.text(document, person, login_key(person))

    assert text("ann") == ""
    quoting(store, login_key("ann"), document)
    quoting(store, login_key("bob"), document)
    quoting(store, login_key("bob"), document)
    quoting(store, login_key("bob"), "another")
    assert text("ann") == "Conversations quote it (1 of yours): they keep the quotes alone."
    corpus.collections.share("ann")
    assert text("ann") == (
        "bob and carol can read it now, and then no longer. "
        "Conversations quote it (1 of yours, 2 of bob): they keep the quotes alone."
    )
    # Whoever has it elsewhere loses nothing, and what they have is nobody's business.
    corpus.collections.add("bob", [document])
    assert text("ann") == (
        "carol can read it now, and then no longer. "
        "Conversations quote it (1 of yours): they keep the quotes alone."
    )
    assert text("bob") == "It stays in ann, which ann shares."
    corpus.collections.unshare("ann")
    assert text("bob").startswith("Conversations quote it (2 of yours)")
    corpus.collections.give("ann", None)
    assert text("carol") == (
        "It is everybody's. ann can read it now, and then no longer. "
        "Conversations quote it (1 of ann): they keep the quotes alone."
    )
    corpus.collections.give("ann", "ann")
    corpus.remove([document], collection="bob")


def test_without_logins_it_says_how_many_conversations_quote_it(
    corpus: Corpus, tmp_path: Path
) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    (document,) = [one.id for one in corpus.documents()]
    notices = RemovalNotices(corpus, store, ())
    assert notices.text(document, None, key) == ""
    quoting(store, key, document)
    quoting(store, new_key(), document)
    assert notices.text(document, None, key) == (
        "Conversations quote it (1 of yours, 1 of other people): they keep the quotes alone."
    )
    corpus.collections.add("bob", [document])
    assert notices.text(document, None, key).startswith("It is removed from ann and bob. ")
    corpus.remove([document], collection="bob")
