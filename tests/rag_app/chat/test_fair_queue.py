"""The line in front of the model: one at a time, in a fair order, and nobody is lost in it."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

from indexing.errors import Busy
from rag_app.chat.fair_queue import MOST_WAITING, Line
from tests.waiting import PATIENCE


def test_one_at_a_time_in_the_order_of_arrival() -> None:
    line = Line()
    with ExitStack() as first, ExitStack() as second:
        a = first.enter_context(line.place("a"))
        b = second.enter_context(line.place("b"))
        assert a.wait(0) and not b.wait(0)
        assert (a.ahead, b.ahead) == (0, 1)
        first.close()
        assert b.wait(0) and b.ahead == 0


def test_a_crowd_of_one_delays_another_person_by_one_answer() -> None:
    line, order = Line(), []
    with ExitStack() as holding:
        places = []
        for who in ["crowd"] * 5 + ["other", "third"]:
            stack = holding.enter_context(ExitStack())
            places.append((stack.enter_context(line.place(who)), stack))
        assert [place.ahead for place, _ in places] == [0, 3, 4, 5, 6, 1, 2]
        while places:
            (served,) = [each for each in places if each[0].wait(0)]
            order.append((served[0].who, served[0].ticket))
            places.remove(served)
            served[1].close()
    expected = [0, 5, 6, 1, 2, 3, 4]
    assert [ticket for _, ticket in order] == expected


def test_whoever_gives_up_leaves_no_gap() -> None:
    line = Line()
    with line.place("a"):
        with line.place("b") as b:
            assert not b.wait(0)
        with line.place("c") as c:
            assert c.ahead == 1
    with line.place("d") as d:
        assert d.wait(0)


def test_a_turn_wakes_its_waiter() -> None:
    line = Line()
    woken: list[bool] = []

    def wait() -> None:
        with line.place("b") as b:
            woken.append(b.wait(PATIENCE))

    with line.place("a"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
    thread.join()
    assert woken == [True]


def test_too_many_are_turned_away() -> None:
    line = Line()
    with ExitStack() as places:
        for _ in range(MOST_WAITING + 1):  # one of them is being served
            places.enter_context(line.place("a"))
        with pytest.raises(Busy, match="try again"), line.place("b"):
            pass
    with line.place("b") as b:
        assert b.wait(0)
