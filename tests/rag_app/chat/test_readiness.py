"""Models are loaded behind the page, which says so as long as they are."""

from __future__ import annotations

import threading
from pathlib import Path

from rag_app.chat.application import Application
from rag_app.chat.changes import mark
from rag_app.chat.page import html as view
from rag_app.corpus.corpus import Corpus
from tests.waiting import PATIENCE


def _loader() -> threading.Thread | None:
    return next((each for each in threading.enumerate() if each.name == "warm"), None)


def test_the_page_says_that_models_are_loaded_until_they_are(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text("The owl survey begins in March.", name="owl")
        app = Application(corpus)
        before = mark(app, "")
        with corpus._models._loading:  # so that none can be loaded yet
            app.readiness.begin()
            loader, marks = _loader(), [before, mark(app, "")]
            states = [app.readiness.is_loading]
        assert loader is not None
        loader.join(PATIENCE)
        states.append(app.readiness.is_loading)
        marks.append(mark(app, ""))
        assert states == [True, False]
        assert marks[0] == marks[2] != marks[1]


def test_what_cannot_be_loaded_is_left_to_the_first_question(tmp_path: Path) -> None:
    with Corpus(tmp_path / "none") as corpus:
        app = Application(corpus)
        app.readiness.begin()
        if (loader := _loader()) is not None:
            loader.join(PATIENCE)
        assert not app.readiness.is_loading


def test_the_notice_is_there_while_models_are_loaded_only() -> None:
    notice, shown = "Loading the models", {"mark": "mark", "chats": "chats", "model": "model"}
    assert notice in view.render("changes.html", **shown, loading=True)
    assert notice not in view.render("changes.html", **shown, loading=False)
