"""Position checks of a conversation: saved when they end, discarded when they are stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from generator.answer import Answer, AnswerReady, Event, TextDelta
from generator.position_check import PositionCheck, Variant
from generator.request import AskRequest
from generator.settings import GeneratorSettings
from indexing.error_log import LOG_NAME
from indexing.errors import InvalidRequest
from indexing.filter import OWNER
from rag_app.chat.conversation import (
    Conversation,
    Exchange,
    PositionCheckRecord,
    from_json,
    to_json,
)
from rag_app.chat.conversation_store import ConversationStore, new_key
from rag_app.chat.language.current import Language, speaking
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page import html as view
from rag_app.chat.queues.answer_jobs import AnswerJob, AnswerJobs
from rag_app.chat.queues.question_queue import QuestionQueue
from rag_app.corpus.corpus import Corpus
from tests.generator.openai_server import running
from tests.waiting import PATIENCE, wait_until

USUAL = Answer("Why?", "It rained.", mode="free", configuration={"Ms-PoE": "off (as asked)"})
OTHER = Answer("Why?", "It <b>snowed</b>.", mode="free", configuration={"Ms-PoE": "on (as asked)"})
CHECK = PositionCheck(
    USUAL,
    (
        Variant("best-last", "off (as asked)", USUAL, 1.0, False),
        Variant("ends", "on (as asked)", OTHER, 0.5, True),
    ),
    ("Ms-PoE: no",),
)
CONVERSATION = Conversation.new().followed_by(
    Exchange("Why?", "free", (), "done", USUAL.text, USUAL)
)
CONVERSATION = CONVERSATION.followed_by(
    Exchange("And then?", "free", (), "done", USUAL.text, USUAL)
)


class Scripted(Corpus):
    """A corpus whose check is scripted; with a gate, it runs until it is stopped."""

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
        return CHECK


def make_jobs(folder: Path) -> tuple[Scripted, ConversationStore, AnswerJobs]:
    corpus, store = Scripted(folder / "corpus"), ConversationStore(folder / "store")
    return corpus, store, AnswerJobs(QuestionQueue(corpus), store)


def wait(jobs: AnswerJobs, conversation: Conversation) -> None:
    wait_until(lambda: jobs.of(conversation) is None)


def test_a_check_is_saved_with_its_answer(tmp_path: Path) -> None:
    corpus, store, jobs = make_jobs(tmp_path)
    key = new_key()
    store.save(key, CONVERSATION)
    jobs.check(key, CONVERSATION, 1, OWNER)
    wait(jobs, CONVERSATION)
    saved = store.get(key, CONVERSATION.id)
    assert saved == CONVERSATION.with_exchange(
        1, saved.exchanges[1] if saved else CONVERSATION.exchanges[1]
    )
    assert saved is not None and saved.exchanges[1].check == PositionCheckRecord.of(CHECK)
    assert saved.exchanges[1].state == "done"
    assert corpus.usual == USUAL
    assert [turn.question for turn in corpus.request.history] == ["Why?"]  # what came before it
    assert from_json(to_json(saved)) == saved


def test_a_check_that_is_stopped_leaves_the_answer_as_it_was(tmp_path: Path) -> None:
    corpus, store, jobs = make_jobs(tmp_path)
    corpus.gate = threading.Event()
    key = new_key()
    store.save(key, CONVERSATION)
    job = jobs.check(key, CONVERSATION, 0, OWNER)
    assert corpus.gate.wait(PATIENCE)
    assert "Asking" in view.live(job.exchange, 0) and "1 of 3" in view.live(job.exchange, 0)
    jobs.stop(CONVERSATION)
    wait(jobs, CONVERSATION)
    assert store.get(key, CONVERSATION.id) == CONVERSATION
    questions = jobs._questions  # and the queue goes on
    corpus.gate = None
    check = questions.check(
        AskRequest("Why?"), OWNER, USUAL, who=key, stop=threading.Event(), progress=lambda *_: None
    )
    assert check == CHECK


class Stubborn(Corpus):
    """A corpus whose answer cannot be interrupted, like the conversion of a model."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.begun, self.gate = threading.Event(), threading.Event()

    def events(
        self, request: AskRequest, *, stop: threading.Event | None = None
    ) -> Generator[Event]:
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        yield TextDelta("too late")
        yield AnswerReady(USUAL)


def test_an_answer_is_stopped_at_once_whatever_its_thread_does(tmp_path: Path) -> None:
    corpus, store = Stubborn(tmp_path / "corpus"), ConversationStore(tmp_path / "store")
    jobs, key = AnswerJobs(QuestionQueue(corpus), store), new_key()
    new = Conversation.new()
    job = jobs.start(key, new, Exchange("Why?", "free"), OWNER)
    assert corpus.begun.wait(PATIENCE)
    jobs.stop(new)
    assert jobs.of(new) is None and job.exchange.state == "stopped"  # and the gate is still closed
    saved = store.get(key, new.id)
    assert saved is not None and saved.exchanges[0].state == "stopped"
    following = jobs.start(key, saved, Exchange("And now?", "free"), OWNER)
    corpus.gate.set()
    wait(jobs, new)
    assert job.exchange.state == "stopped" and job.exchange.text == ""
    assert following.exchange.answer == USUAL
    last = store.get(key, new.id)
    assert last is not None and [each.state for each in last.exchanges] == ["stopped", "done"]


@pytest.mark.parametrize(
    ("name", "shown", "told"),
    [
        ("failing", "The ferry", "hat abgebrochen"),
        ("cut", "The ferry sails", "was kein OpenAI-kompatibler Server"),
        ("dying", "The ferry sails", "hat abgebrochen"),
        ("locked", "", "lehnt den Schlüssel ab"),
        ("overflow", "", "liest nicht mehr als seinen Kontext"),
        ("nobody", "", "kennt 'nobody' nicht"),
        ("down", "", "hat mit 500 geantwortet"),
        ("page", "", "hat keine Antwort gesandt"),
    ],
)
def test_what_a_server_wrote_stays_with_its_error(
    name: str, shown: str, told: str, tmp_path: Path
) -> None:
    with running() as url, Corpus(tmp_path / "corpus") as corpus:
        corpus.use_generator(GeneratorSettings(model=f"openai:{url}#{name}"), key="")
        corpus.add_text("The ferry sails at nine o'clock.", name="ferry")
        store, key = ConversationStore(tmp_path / "store"), new_key()
        jobs, new = AnswerJobs(QuestionQueue(corpus), store), Conversation.new()
        jobs.start(key, new, Exchange("When does the ferry sail?", "free"), OWNER)
        wait(jobs, new)
    saved = store.get(key, new.id)
    assert saved is not None
    (exchange,) = saved.exchanges
    assert (exchange.state, exchange.text) == ("failed", shown)
    with speaking(Language("de", "de")):
        assert told in translated(exchange.note)


def test_a_changed_answer_is_shown_and_stays_text() -> None:
    exchange = Exchange(
        "Why?", "free", (), "done", USUAL.text, USUAL, check=PositionCheckRecord.of(CHECK)
    )
    page = view.conversation(Conversation.new().followed_by(exchange))
    assert "1 of 2 variants changes the answer · agreement 75%" in page
    assert "evidence best-last" in page and "Ms-PoE on (as asked)" in page
    assert "It &lt;b&gt;snowed&lt;/b&gt;." in page and "Not checked: Ms-PoE: no" in page


class Slow(Corpus):
    """A corpus that answers when it is told to, whoever waits."""

    begun, go = threading.Event(), threading.Event()

    def events(
        self, request: AskRequest, *, stop: threading.Event | None = None
    ) -> Generator[Event, None, None]:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        yield TextDelta("It rained.")
        yield AnswerReady(USUAL)


def test_a_conversation_deleted_while_it_is_answered_stays_deleted(tmp_path: Path) -> None:
    corpus, store = Slow(tmp_path / "corpus"), ConversationStore(tmp_path / "store")
    jobs, key = AnswerJobs(QuestionQueue(corpus), store), new_key()
    conversation = Conversation.new()
    job = jobs.start(key, conversation, Exchange("Why?", "free"), OWNER)
    assert corpus.begun.wait(PATIENCE) and len(store.all(key)) == 1
    jobs.delete(new_key(), conversation.id)  # of somebody else: nothing happens
    assert not job.deleted and len(store.all(key)) == 1
    jobs.delete(key, conversation.id)
    corpus.go.set()
    wait(jobs, conversation)
    assert store.all(key) == [] and job.stop.is_set()


def test_a_second_question_does_not_disturb_the_first(tmp_path: Path) -> None:
    _, store, jobs = make_jobs(tmp_path)
    key, conversation = new_key(), Conversation.new()
    jobs._jobs[conversation.id] = AnswerJob(key, conversation, Exchange("Why?"), OWNER)
    with pytest.raises(InvalidRequest, match="waiting for an answer"):
        jobs.start(key, conversation, Exchange("What?"), OWNER)
    assert store.all(key) == []


def test_what_another_window_has_been_answered_meanwhile_is_not_overwritten(
    tmp_path: Path,
) -> None:
    _, store, jobs = make_jobs(tmp_path)
    key = new_key()
    seen = CONVERSATION.with_exchange(1, Exchange("And then?", "free", (), "stopped"))
    store.save(key, seen)
    named = CONVERSATION.named("Rain").rated(0, "up")
    store.save(key, named)  # the answer that was on its way when a window asked
    for number in (None, 2):
        with pytest.raises(InvalidRequest) as refused:
            jobs.start(key, seen, Exchange("What?"), OWNER, replaces=number)
    with pytest.raises(InvalidRequest, match="has changed in another window"):
        jobs.check(key, seen, 0, OWNER)
    with speaking(Language("de", "de")):
        assert "in einem anderen Fenster geändert" in translated(str(refused.value))
    assert store.get(key, named.id) == named and jobs.of(named) is None
    jobs.start(key, seen, Exchange("What?"), OWNER, replaces=1)  # what it replaces may have changed
    wait(jobs, named)
    stored = store.get(key, named.id)
    assert stored is not None and (stored.title, stored.exchanges[0]) == (
        "Rain",
        named.exchanges[0],
    )
    assert [each.question for each in stored.exchanges] == ["Why?", "What?"]
    jobs.start(key, CONVERSATION.upto(1), Exchange("How?"), OWNER, replaces=0)
    wait(jobs, named)
    jobs.delete(key, named.id)
    with pytest.raises(InvalidRequest, match="has changed"):
        jobs.start(key, named, Exchange("What?"), OWNER)  # and what is deleted stays so
    assert store.all(key) == []


def test_a_rating_given_while_an_answer_is_checked_is_kept(tmp_path: Path) -> None:
    corpus, conversations = Scripted(tmp_path), ConversationStore(tmp_path / "chats")
    jobs, key = AnswerJobs(QuestionQueue(corpus), conversations), new_key()
    conversations.save(key, CONVERSATION)
    corpus.gate = threading.Event()
    job = jobs.check(key, CONVERSATION, 0, OWNER)
    assert corpus.gate.wait(PATIENCE)
    jobs.update(key, CONVERSATION.id, lambda one: one.rated(0, "up").rated(1, "down"))
    jobs.update(key, CONVERSATION.id, lambda one: one.named("Rain"))
    corpus.gate = None
    wait_until(lambda: jobs.of(CONVERSATION) is None)
    assert job.exchange.check is not None
    stored = conversations.get(key, CONVERSATION.id)
    assert stored is not None and stored.title == "Rain"
    assert [each.rating for each in stored.exchanges] == ["up", "down"]
    with pytest.raises(InvalidRequest, match="was deleted"):
        jobs.update(key, "0" * 16, lambda one: one)


@pytest.mark.parametrize("check", [False, True])
def test_an_unexpected_error_is_logged_with_its_traceback(
    check: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path))
    corpus, store, jobs = make_jobs(tmp_path)
    monkeypatch.setattr(corpus, "check_position" if check else "events", fail)
    key = new_key()
    store.save(key, CONVERSATION)
    if check:
        job = jobs.check(key, CONVERSATION, 1, OWNER)
    else:
        job = jobs.start(key, CONVERSATION, Exchange("What?"), OWNER)
    wait(jobs, CONVERSATION)
    assert f"(ZeroDivisionError: a bug); details: {tmp_path / LOG_NAME}" in job.exchange.note
    assert "in fail" in (tmp_path / LOG_NAME).read_text()
    with speaking(Language("de", "de")):
        assert "unerwartet gescheitert (ZeroDivisionError: a bug)" in translated(job.exchange.note)
