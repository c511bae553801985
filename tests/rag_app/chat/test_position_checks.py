"""Position checks of a conversation: kept when they end, without a trace when they are stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from generator.answer import Answer
from generator.position_check import PositionCheck, Variant
from generator.request import AskRequest
from rag_app.chat.answer_jobs import Runs
from rag_app.chat.conversation import Chat, Checked, Exchange, from_json, to_json
from rag_app.chat.conversation_store import Chats, new_key
from rag_app.chat.page import html as view
from rag_app.chat.question_queue import Asking
from rag_app.corpus.corpus import Corpus
from tests.waiting import PATIENCE, wait_until

USUAL = Answer("Why?", "It rained.", mode="free", made={"Ms-PoE": "off (as asked)"})
OTHER = Answer("Why?", "It <b>snowed</b>.", mode="free", made={"Ms-PoE": "on (as asked)"})
FOUND = PositionCheck(
    USUAL,
    (
        Variant("best-last", "off (as asked)", USUAL, 1.0, False),
        Variant("ends", "on (as asked)", OTHER, 0.5, True),
    ),
    ("Ms-PoE: no",),
)
CHAT = Chat.new().followed_by(Exchange("Why?", "free", (), "done", USUAL.text, USUAL))
CHAT = CHAT.followed_by(Exchange("And then?", "free", (), "done", USUAL.text, USUAL))


class Scripted(Corpus):
    """A corpus that has checked already; with a gate, it asks on and on until it is stopped."""

    gate: threading.Event | None = None
    request: AskRequest
    usual: Answer | None

    def check_position(
        self,
        request: AskRequest,
        *,
        usual: Answer | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PositionCheck:
        self.request, self.usual = request, usual
        while self.gate:
            self.gate.set()
            assert progress is not None
            progress(1, 3)
            time.sleep(0.01)
        return FOUND


def runs(folder: Path) -> tuple[Scripted, Chats, Runs]:
    corpus, chats = Scripted(folder / "corpus"), Chats(folder / "chats")
    return corpus, chats, Runs(Asking(corpus), chats)


def ended(all_: Runs, chat: Chat) -> None:
    wait_until(lambda: all_.of(chat) is None)


def test_what_a_check_finds_is_kept_with_its_answer(tmp_path: Path) -> None:
    corpus, chats, all_ = runs(tmp_path)
    key = new_key()
    chats.keep(key, CHAT)
    all_.check(key, CHAT, 1)
    ended(all_, CHAT)
    kept = chats.get(key, CHAT.id)
    assert kept == CHAT.with_exchange(1, kept.exchanges[1] if kept else CHAT.exchanges[1])
    assert kept is not None and kept.exchanges[1].check == Checked.of(FOUND)
    assert kept.exchanges[1].state == "done"
    assert corpus.usual == USUAL
    assert [turn.question for turn in corpus.request.history] == ["Why?"]  # what came before it
    assert from_json(to_json(kept)) == kept


def test_a_check_that_is_stopped_leaves_the_answer_as_it_was(tmp_path: Path) -> None:
    corpus, chats, all_ = runs(tmp_path)
    corpus.gate = threading.Event()
    key = new_key()
    chats.keep(key, CHAT)
    run = all_.check(key, CHAT, 0)
    assert corpus.gate.wait(PATIENCE)
    assert "Asking" in view.live(run.exchange, 0) and "1 of 3" in view.live(run.exchange, 0)
    all_.stop(CHAT)
    ended(all_, CHAT)
    assert chats.get(key, CHAT.id) == CHAT
    asking = all_._asking  # and the line goes on
    corpus.gate = None
    found = asking.check(
        AskRequest("Why?"), USUAL, who=key, stop=threading.Event(), progress=lambda *_: None
    )
    assert found == FOUND


def test_what_changes_is_shown_and_stays_text() -> None:
    exchange = Exchange("Why?", "free", (), "done", USUAL.text, USUAL, check=Checked.of(FOUND))
    shown = view.conversation(Chat.new().followed_by(exchange))
    assert "1 of 2 change the answer · agreement 75%" in shown
    assert "evidence best-last" in shown and "Ms-PoE on (as asked)" in shown
    assert "It &lt;b&gt;snowed&lt;/b&gt;." in shown and "Not checked: Ms-PoE: no" in shown
