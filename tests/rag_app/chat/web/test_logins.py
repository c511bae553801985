"""Files of logins, right and wrong."""

from __future__ import annotations

import pytest

from indexing.errors import InvalidRequest
from rag_app.chat.web.logins import LONGEST_NAME, Logins


def test_each_line_is_a_person() -> None:
    logins = Logins.parse("ann:one\n\n  # bob:gone\nbob:t:wo\r\nJörg: three ")
    assert logins.user(b"ann:one") == "ann"
    assert logins.user(b"bob:t:wo") == "bob"
    assert logins.user("Jörg: three".encode()) == "Jörg"
    for wrong in (b"", b"ann", b"ann:", b"ann:two", b"bob:gone", b"bob:t", b"# bob:gone"):
        assert logins.user(wrong) is None


@pytest.mark.parametrize("text", [":", "ann", "ann:", ":word", "ann:one\nbob"])
def test_half_a_login_is_none(text: str) -> None:
    with pytest.raises(InvalidRequest, match="user:password"):
        Logins.parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no login"),
        ("# nobody\n", "no login"),
        ("ann:one\nann:two", "two logins have the user ann"),
        (f"{'a' * (LONGEST_NAME + 1)}:one", "login 1"),
        ("ann:one\nb\x1bb:two", "login 2"),
    ],
)
def test_what_is_no_file_of_logins_is_said(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        Logins.parse(text)
