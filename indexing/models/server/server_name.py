"""The name of a model behind a server: `openai:BASE_URL#MODEL`."""

from __future__ import annotations

from indexing.errors import InvalidRequest

PREFIX = "openai:"
_FORM = "openai:BASE_URL#MODEL, for example openai:http://localhost:11434/v1#qwen3"


def is_remote(name: str) -> bool:
    """Whether a model's name is that of a server's model."""
    return name.startswith(PREFIX)


def is_local_server(name: str) -> bool:
    """Whether a model's name is that of a server on this machine."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    host = urlsplit(name.removeprefix(PREFIX)).hostname or "" if is_remote(name) else ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def parse_server_name(name: str) -> tuple[str, str]:
    """Base URL without a slash at its end, and the server's name for the model.

    Raises:
        InvalidRequest: The name is not of the form `openai:BASE_URL#MODEL`, or holds a password.
    """
    from urllib.parse import urlsplit

    url, _, model = name.removeprefix(PREFIX).partition("#")
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # of brackets and ports
        valid = False
    if not valid or not model.strip():
        raise InvalidRequest(f"{name!r} names no model of a server; write {_FORM}")
    if parts.username or parts.password or parts.query:
        raise InvalidRequest(
            "a server's address must not hold a password or a key; set RAG_APP_API_KEY instead"
        )
    return url.rstrip("/"), model.strip()
