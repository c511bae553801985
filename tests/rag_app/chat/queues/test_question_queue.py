"""Two queues: a question for quotes does not wait for a generated answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from generator.answer import Answer, AnswerReady, Event
from generator.request import AskRequest
from generator.settings import GeneratorSettings
from indexing.errors import Busy
from indexing.filter import OWNER
from indexing.models.graphs.cores import Cores
from rag_app.chat.queues.fair_queue import MOST_WAITING
from rag_app.chat.queues.question_queue import POLL_SECONDS, QuestionQueue, Waiting
from rag_app.corpus.corpus import Corpus
from tests.waiting import PATIENCE, wait_until


class Gated(Corpus):
    """A corpus whose generated answers wait at a gate, like those of a slow language model."""

    def __init__(self, folder: Path, settings: GeneratorSettings | None = None) -> None:
        super().__init__(folder, generator=settings)
        self.begun, self.gate = threading.Event(), threading.Event()

    def events(
        self, request: AskRequest, *, stop: threading.Event | None = None
    ) -> Generator[Event]:
        if request.question.startswith("slow"):
            self.begun.set()
            assert self.gate.wait(PATIENCE)
        yield AnswerReady(Answer(request.question, request.question))


def ask(questions: QuestionQueue, request: AskRequest) -> list[Event | Waiting]:
    return list(questions.stream(request, OWNER, who="another"))


def behind_a_slow_quote(corpus: Gated) -> tuple[QuestionQueue, threading.Thread]:
    questions, slow = QuestionQueue(corpus, Cores(1)), AskRequest("slow", "quote")
    thread = threading.Thread(
        target=lambda: list(questions.stream(slow, OWNER, who="one")), daemon=True
    )
    thread.start()
    assert corpus.begun.wait(PATIENCE)
    return questions, thread


def behind_a_slow_answer(corpus: Gated) -> tuple[QuestionQueue, threading.Thread]:
    questions = QuestionQueue(corpus)
    slow = AskRequest("slow", "free")
    thread = threading.Thread(
        target=lambda: list(questions.stream(slow, OWNER, who="one")), daemon=True
    )
    thread.start()
    assert corpus.begun.wait(PATIENCE)
    return questions, thread


def test_what_reads_much_has_its_turn_among_quotes(tmp_path: Path) -> None:
    corpus, read = Gated(tmp_path), threading.Event()
    questions, asking = behind_a_slow_quote(corpus)

    async def reads() -> None:
        turn = asyncio.create_task(questions.in_turn(read.set, who="another"))
        await asyncio.sleep(3 * POLL_SECONDS)
        assert not read.is_set()  # it waits for the answer before it
        corpus.gate.set()
        await asyncio.wait_for(turn, PATIENCE)

    asyncio.run(reads())
    assert read.is_set()
    asking.join(PATIENCE)
    assert questions.is_idle


def test_whoever_waits_for_a_turn_holds_up_no_page_and_leaves_the_queue(tmp_path: Path) -> None:
    corpus, read = Gated(tmp_path), threading.Event()
    questions, asking = behind_a_slow_quote(corpus)

    async def pages() -> None:
        turns = [
            asyncio.create_task(questions.in_turn(read.set, who="eve"))
            for _ in range(MOST_WAITING)  # more than there are threads for pages
        ]
        await asyncio.sleep(POLL_SECONDS)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "page"), PATIENCE) == "page"
        with pytest.raises(Busy):
            await questions.in_turn(read.set, who="bob")
        for each in turns:
            each.cancel()
        await asyncio.gather(*turns, return_exceptions=True)

    asyncio.run(pages())
    last = questions.stream(AskRequest("quick", "quote"), OWNER, who="bob")
    wait_until(lambda: len(questions._quotes._waiting) == 0)
    assert next(last) == Waiting(1)  # the answer that is being made
    corpus.gate.set()
    assert isinstance(list(last)[-1], AnswerReady)
    asking.join(PATIENCE)
    assert questions.is_idle and not read.is_set()


@pytest.mark.parametrize("mode", ["quote", None])  # the packaged model's usual mode is quotes
def test_quotes_do_not_wait_behind_the_language_model(mode: None, tmp_path: Path) -> None:
    corpus = Gated(tmp_path)
    questions, thread = behind_a_slow_answer(corpus)
    (ready,) = ask(questions, AskRequest("quick", mode))
    assert isinstance(ready, AnswerReady) and thread.is_alive()
    corpus.gate.set()
    thread.join(PATIENCE)


def test_as_many_quotes_at_once_as_there_are_cores(tmp_path: Path) -> None:
    corpus = Gated(tmp_path)
    questions = QuestionQueue(corpus, Cores(2))
    slow = AskRequest("slow", "quote")
    thread = threading.Thread(
        target=lambda: list(questions.stream(slow, OWNER, who="one")), daemon=True
    )
    thread.start()
    assert corpus.begun.wait(PATIENCE)
    (ready,) = ask(questions, AskRequest("quick", "quote"))
    assert isinstance(ready, AnswerReady) and thread.is_alive()
    corpus.begun.clear()
    second = threading.Thread(
        target=lambda: list(questions.stream(slow, OWNER, who="two")), daemon=True
    )
    second.start()
    assert corpus.begun.wait(PATIENCE)
    third = questions.stream(slow, OWNER, who="three")
    assert next(third) == Waiting(2)
    corpus.gate.set()
    assert isinstance(list(third)[-1], AnswerReady)
    second.join(PATIENCE)
    thread.join(PATIENCE)


@pytest.mark.parametrize(
    ("mode", "settings"),
    [
        ("free", GeneratorSettings()),
        (None, GeneratorSettings(answer="free")),
    ],
)
def test_what_needs_the_language_model_waits_for_it(
    mode: None, settings: GeneratorSettings, tmp_path: Path
) -> None:
    corpus = Gated(tmp_path, settings)
    questions, thread = behind_a_slow_answer(corpus)
    events = questions.stream(AskRequest("quick", mode), OWNER, who="another")
    assert next(events) == Waiting(1)
    corpus.gate.set()
    assert isinstance(list(events)[-1], AnswerReady)
    thread.join(PATIENCE)
