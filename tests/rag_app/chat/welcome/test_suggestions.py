"""What is suggested is answered, and only then; documents of others suggest nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.error_log import LOG_NAME
from indexing.filter import Scope
from rag_app.chat.application import Application
from rag_app.chat.welcome.suggestions import LEAST_PROBABILITY, FirstLook
from rag_app.corpus.corpus import Corpus
from tests.waiting import wait_until

TEXT = """The Sallow Trust was founded in 1988 by an angling club.
The heron colony at Saltmarsh Bend had 27 nests.
Each backup takes 38 minutes.
"Lead Time" means six weeks from the day of the order.
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with Corpus(tmp_path_factory.mktemp("suggested") / "corpus") as corpus:
        app = Application(corpus)
        yield app
        app.suggestions.close()


def looked(app: Application, person: str | None) -> FirstLook:
    """The complete first look of a person."""
    app.suggestions.of(person)
    wait_until(lambda: app.suggestions.known(person).revision == app.corpus.revision)
    return app.suggestions.of(person)


def test_questions_are_suggested_that_are_answered_from_what_one_may_see(app: Application) -> None:
    assert app.suggestions.of(None) == FirstLook()  # there is no corpus yet
    corpus = app.corpus
    assert isinstance(corpus, Corpus)
    corpus.collections.create("ann", owner="ann")
    (id_,) = corpus.add_text(TEXT, name="report", collection="ann").added
    look = looked(app, "ann")
    assert look.about is not None and look.about.document == id_
    assert len(look.questions) == 3
    for question in look.questions:
        answer = corpus.ask(question)
        assert not answer.abstained and (answer.probability or 1) >= LEAST_PROBABILITY
    nothing = looked(app, "bob")
    assert nothing.about is None and nothing.questions == ()
    # What is gone is suggested no more, from that moment on.
    corpus.add_text("Nothing that anybody would ask about.", name="note", collection="ann")
    corpus.remove([id_])
    assert app.suggestions.of("ann") == FirstLook()
    look = looked(app, "ann")
    assert look.about is not None and look.about.title == "note"
    assert look.questions == ("Summarize note",)


def test_a_complete_look_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for it while it is made has it made once, and never sees less of it again."""
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text(TEXT, name="report")
        suggestions = Application(corpus).suggestions
        kept: list[FirstLook] = []
        keep = suggestions._keep

        def ask_again(person: str | None, revision: str, look: FirstLook) -> None:
            kept.append(look)
            if len(kept) == 1:
                suggestions.of(person)
            keep(person, revision, look)

        monkeypatch.setattr(suggestions, "_keep", ask_again)
        suggestions.of(None)
        wait_until(lambda: suggestions._worker is None)
        assert [len(look.questions) for look in kept] == [0, 1, 2, 3, 3]


def test_an_unexpected_error_is_logged_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path))
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text(TEXT, name="report")
        monkeypatch.setattr(corpus, "overview", fail)
        app = Application(corpus)
        app.suggestions.of(None)
        log = tmp_path / LOG_NAME
        wait_until(lambda: log.exists() and "in fail" in log.read_text())
        app.suggestions.close()


OWN = {
    "minutes": """Ann: Right, the stall first. Who has the float?
Bob: Nobody has it. Iris took it home after the fair, I think.
Ann: Then we decided to buy a new one before the summer.
Bob: Good. And somebody must ring the school about tables.
""",
    "Protokoll": """Anna: Zuerst zum Stand. Wer hat die Kasse?
Bernd: Niemand. Ich glaube, die ist nach dem Fest bei Iris geblieben.
Anna: Dann ist das beschlossen, wir kaufen vor dem Sommer eine neue.
Bernd: Gut. Und jemand muss die Schule wegen der Tische anrufen.
""",
}
"""Without a sentence that any template knows."""


@pytest.mark.parametrize("name", OWN)
def test_for_files_of_ones_own_something_is_always_suggested(name: str, app: Application) -> None:
    corpus = app.corpus
    assert isinstance(corpus, Corpus)
    corpus.collections.create(name, owner="own")
    (id_,) = corpus.add_text(OWN[name], name=name, collection=name).added
    look = looked(app, "own")
    assert len(look.questions) >= 2
    for question in look.questions:
        answer = corpus.seen_by(Scope("own")).ask(question)
        assert not answer.abstained and name in question
        assert {one.document for one in answer.citations} == {id_}
    corpus.remove([id_])
