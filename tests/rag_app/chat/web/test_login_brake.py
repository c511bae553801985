"""Guessing logins takes ever longer, and costs nobody else anything."""

from __future__ import annotations

import base64

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from rag_app.chat.web.auth import AccessControl
from rag_app.chat.web.login_brake import (
    FIRST_WAIT,
    FORGOTTEN,
    FREE,
    LONGEST_WAIT,
    MOST_ADDRESSES,
    LoginBrake,
)
from rag_app.chat.web.logins import Logins


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_wait_doubles_up_to_the_longest() -> None:
    clock = Clock()
    brake = LoginBrake(clock)
    waits = []
    for _ in range(FREE + 12):
        brake.wrong("10.0.0.1")
        waits.append(brake.wait("10.0.0.1"))
        clock.now += waits[-1]
        assert brake.wait("10.0.0.1") == 0
    expected = [min(FIRST_WAIT * 2**n, LONGEST_WAIT) for n in range(13)]
    assert waits == [0.0] * (FREE - 1) + expected


def test_others_wait_for_nothing_and_a_right_login_forgets() -> None:
    clock = Clock()
    brake = LoginBrake(clock)
    for _ in range(FREE):
        brake.wrong("10.0.0.1")
        brake.wrong("2001:db8::1")
    assert brake.wait("10.0.0.2") == 0 and brake.wait("10.0.0.1") > 0
    assert brake.wait("2001:db8::2") > 0  # of the same subscriber
    assert brake.wait("2001:db8:0:1::1") == 0
    brake.right("10.0.0.1")
    assert brake.wait("10.0.0.1") == 0
    clock.now = FORGOTTEN + 1
    assert brake.wait("2001:db8::1") == 0


def test_many_addresses_take_no_memory_without_end() -> None:
    brake = LoginBrake(Clock())
    for number in range(MOST_ADDRESSES + 10):
        brake.wrong(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(brake._failures) == MOST_ADDRESSES


def test_a_browser_that_asks_first_is_not_counted_and_guesses_are() -> None:
    clock = Clock()
    app = PlainTextResponse("hello")
    control = AccessControl(
        app, hosts=None, logins=Logins.parse("ann:right"), brake=LoginBrake(clock)
    )
    visitor = TestClient(control)

    def get(password: str | None, path: str = "/") -> tuple[int, str]:
        code = base64.b64encode(f"ann:{password}".encode()).decode()
        headers = {"authorization": f"Basic {code}"} if password is not None else {}
        reply = visitor.get(path, headers=headers)
        return reply.status_code, reply.headers.get("retry-after", "")

    for _ in range(3 * FREE):
        assert get(None) == (401, "")
    for guess in range(FREE):
        assert get(str(guess)) == (401, "")
    assert get("guess") == (429, "2")
    assert get("right") == (429, "2")  # so that guessing on learns nothing
    clock.now = 1.5
    assert get("right", "/v1/models") == (429, "1")
    clock.now = 2.0
    assert get("right") == (200, "")
    assert get("guess") == (401, "")
