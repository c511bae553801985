"""Addresses that somebody typed: which may be connected to, and with a key."""

from __future__ import annotations

import pytest

from indexing.errors import InvalidRequest
from rag_app.chat.model_address import USUAL, check_address, is_elsewhere


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        (" localhost:11434/v1/ ", "http://localhost:11434/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://192.168.1.20:8080", "http://192.168.1.20:8080"),
        ("https://8.8.8.8/v1", "https://8.8.8.8/v1"),
    ],
)
def test_servers_of_this_machine_and_others(typed: str, url: str) -> None:
    assert check_address(typed, key="") == url


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("http://169.254.169.254/latest", "no server of models"),
        ("http://[::ffff:169.254.169.254]/v1", "no server of models"),
        ("http://[fe80::1]/v1", "no server of models"),
        ("http://0.0.0.0:80/v1", "no server of models"),
        ("http://224.0.0.1/v1", "no server of models"),
        ("http://0xa9fea9fe/v1", "no server of models"),  # 169.254.169.254 in hexadecimal
        ("file:///etc/passwd", "names no model of a server"),
        ("http://user:word@localhost/v1", "must not hold a password"),
        ("http://localhost/v1?key=1", "must not hold a password"),
        ("http://localhost/#x", "no address"),
        ("", "names no model of a server"),
        ("http://nowhere.invalid/v1", "no such machine"),
        ("x" * 600, "no address"),
    ],
)
def test_what_is_no_server(typed: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        check_address(typed, key="")


def test_a_key_is_not_sent_for_all_to_read() -> None:
    with pytest.raises(InvalidRequest, match="for all to read"):
        check_address("http://8.8.8.8/v1", key="secret")
    for address in ("https://8.8.8.8/v1", "http://10.0.0.7/v1", "http://127.0.0.1/v1"):
        assert check_address(address, key="secret") == address


def test_what_leaves_this_machine() -> None:
    assert not any(map(is_elsewhere, [*USUAL.values(), "http://[::1]/v1", "http://localhost/v1"]))
    assert is_elsewhere("http://192.168.1.20:8080") and is_elsewhere("https://example.com/v1")
