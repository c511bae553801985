"""Guessing logins takes ever longer, and costs nobody else anything behind one address."""

from __future__ import annotations

import base64

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from rag_app.chat.web.auth import AccessControl
from rag_app.chat.web.identity import Identification
from rag_app.chat.web.login_brake import (
    FIRST_WAIT,
    FORGOTTEN,
    FREE,
    LONGEST_WAIT,
    MOST_LOGINS,
    LoginBrake,
)
from rag_app.chat.web.logins import Logins
from rag_app.chat.web.sessions import Sessions


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
        brake.wrong("ann", "10.0.0.1")
        waits.append(brake.wait("ann", "10.0.0.1"))
        clock.now += waits[-1]
        assert brake.wait("ann", "10.0.0.1") == 0
    expected = [min(FIRST_WAIT * 2**n, LONGEST_WAIT) for n in range(13)]
    assert waits == [0.0] * (FREE - 1) + expected


def test_others_wait_for_nothing_and_a_right_login_forgets() -> None:
    clock = Clock()
    brake = LoginBrake(clock)
    for _ in range(FREE):
        brake.wrong("ann", "10.0.0.1")
        brake.wrong("ann", "2001:db8::1")
    assert brake.wait("ann", "10.0.0.2") == 0 and brake.wait("ann", "10.0.0.1") > 0
    assert brake.wait("ann", "2001:db8::2") > 0  # of the same subscriber
    assert brake.wait("ann", "2001:db8:0:1::1") == 0
    brake.right("ann", "10.0.0.1")
    assert brake.wait("ann", "10.0.0.1") == 0
    clock.now = FORGOTTEN + 1
    assert brake.wait("ann", "2001:db8::1") == 0


def test_many_addresses_take_no_memory_without_end() -> None:
    brake = LoginBrake(Clock())
    for number in range(MOST_LOGINS + 10):
        brake.wrong("ann", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(brake._failures) == MOST_LOGINS


def test_a_browser_that_asks_first_is_not_counted_and_guesses_are() -> None:
    clock = Clock()
    app = PlainTextResponse("hello")
    logins = Logins.parse("ann:right\nbob:other")
    brake = LoginBrake(clock)
    known = Identification(logins, sessions=Sessions(logins), proxy=None, brake=brake)
    control = AccessControl(app, hosts=None, identification=known)
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
    assert visitor.get("/", auth=("bob", "other")).status_code == 200  # from the same address
    assert get("right") == (429, "2")
    clock.now = 1.5
    assert get("right", "/v1/models") == (429, "1")
    clock.now = 2.0
    assert get("right") == (200, "")
    assert get("guess") == (401, "")
