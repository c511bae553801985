"""No test has a limit of time of its own: all wait as `tests/waiting.py` says."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import pytest

from tests.waiting import limited

TESTS = Path(__file__).parents[1]
ASKING = {"get", "post", "put", "delete", "request", "stream", "Client", "AsyncClient"}


def limits(call: ast.Call) -> list[ast.expr]:
    """What a call says of its limit of time."""
    return [each.value for each in call.keywords if each.arg == "timeout"]


def is_impatient(call: ast.Call) -> bool:
    """Whether a call names seconds of its own, or is one of httpx that leaves its five."""
    named = [each.value for each in limits(call) if isinstance(each, ast.Constant)]
    if any(isinstance(each, int | float) and each >= 1 for each in named):
        return True
    of = call.func
    asks = isinstance(of, ast.Attribute) and ast.unparse(of.value) == "httpx" and of.attr in ASKING
    return asks and not limits(call)


def impatient(code: str) -> list[str]:
    calls = [each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Call)]
    return [f"line {each.lineno}: {ast.unparse(each)}" for each in calls if is_impatient(each)]


def test_no_test_has_a_limit_of_its_own() -> None:
    found = {file: impatient(file.read_text("utf-8")) for file in TESTS.rglob("*.py")}
    assert {str(file): calls for file, calls in found.items() if calls} == {}


def test_what_hangs_is_ended() -> None:
    with pytest.raises(TimeoutError, match="not done"), limited(0.05):
        threading.Event().wait()
    with limited(0.05):
        pass
    threading.Event().wait(0.1)  # the limit is over


def test_one_that_has_is_noticed() -> None:
    assert len(impatient("httpx.get(x)\nprocess.wait(timeout=60)\nhttpx.Client(timeout=5)")) == 3
    assert impatient("httpx.get(x, timeout=PATIENCE)\nrun(timeout=None)\nlock(timeout=0)") == []
