"""Idleness begins when the last of all has ended, and anything that begins ends it."""

from __future__ import annotations

import threading

from rag_app.chat.queues.idle_timer import IdleTimer
from tests.waiting import PATIENCE


def test_it_is_called_whenever_idle_and_never_before() -> None:
    called, busy = threading.Semaphore(0), list[bool]()

    def work() -> None:
        busy.append(timer._count > 0)
        called.release()

    timer = IdleTimer(work, after=0.01)
    for _ in range(2):
        with timer.busy():
            with timer.busy():
                pass
            assert not called.acquire(timeout=0.05)
        assert called.acquire(timeout=PATIENCE)
    assert not called.acquire(timeout=0.05) and busy == [False, False]
    with timer.busy():
        pass
    patient = IdleTimer(work, after=PATIENCE)
    assert called.acquire(timeout=PATIENCE)
    for _ in range(2):
        with patient.busy():
            assert patient._timer is None or patient._timer.finished.is_set()
        assert patient._timer is not None and patient._timer.is_alive()
    assert patient._timer is not None
    patient._timer.cancel()
