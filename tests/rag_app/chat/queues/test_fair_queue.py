"""The queue in front of the model: one at a time, in a fair order, and nobody is lost."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

from indexing.errors import Busy
from rag_app.chat.queues.fair_queue import MOST_WAITING, FairQueue
from tests.waiting import PATIENCE


def test_one_at_a_time_in_the_order_of_arrival() -> None:
    queue = FairQueue()
    with ExitStack() as first, ExitStack() as second:
        a = first.enter_context(queue.ticket("a"))
        b = second.enter_context(queue.ticket("b"))
        assert a.wait(0) and not b.wait(0)
        assert (a.ahead, b.ahead) == (0, 1)
        first.close()
        assert b.wait(0) and b.ahead == 0


def test_many_questions_of_one_person_delay_another_by_one_answer() -> None:
    queue, order = FairQueue(), []
    with ExitStack() as holding:
        tickets = []
        for who in ["crowd"] * 5 + ["other", "third"]:
            stack = holding.enter_context(ExitStack())
            tickets.append((stack.enter_context(queue.ticket(who)), stack))
        assert [ticket.ahead for ticket, _ in tickets] == [0, 3, 4, 5, 6, 1, 2]
        while tickets:
            (served,) = [each for each in tickets if each[0].wait(0)]
            order.append((served[0].who, served[0].number))
            tickets.remove(served)
            served[1].close()
    expected = [0, 5, 6, 1, 2, 3, 4]
    assert [number for _, number in order] == expected


def test_with_two_places_a_crowd_leaves_the_next_one_to_another() -> None:
    queue = FairQueue(places=2)
    with ExitStack() as holding:
        stacks = [holding.enter_context(ExitStack()) for _ in range(5)]
        people = ("crowd", "crowd", "crowd", "crowd", "other")
        tickets = [
            stack.enter_context(queue.ticket(who))
            for stack, who in zip(stacks, people, strict=True)
        ]
        assert [each.wait(0) for each in tickets] == [True, True, False, False, False]
        assert [each.ahead for each in tickets] == [0, 0, 3, 4, 2]
        stacks[1].close()
        assert [each.wait(0) for each in tickets] == [True, False, False, False, True]
        stacks[0].close()
        assert tickets[2].wait(0) and not tickets[3].wait(0)


def test_a_ticket_that_leaves_makes_room() -> None:
    queue = FairQueue()
    with queue.ticket("a"):
        with queue.ticket("b") as b:
            assert not b.wait(0)
        with queue.ticket("c") as c:
            assert c.ahead == 1
    with queue.ticket("d") as d:
        assert d.wait(0)


def test_a_call_wakes_its_waiter() -> None:
    queue = FairQueue()
    woken: list[bool] = []

    def wait() -> None:
        with queue.ticket("b") as b:
            woken.append(b.wait(PATIENCE))

    with queue.ticket("a"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
    thread.join()
    assert woken == [True]


def test_too_many_are_refused() -> None:
    queue = FairQueue()
    with ExitStack() as tickets:
        for _ in range(MOST_WAITING + 1):  # one of them is being served
            tickets.enter_context(queue.ticket("a"))
        with pytest.raises(Busy, match="try again"), queue.ticket("b"):
            pass
    with queue.ticket("b") as b:
        assert b.wait(0)
