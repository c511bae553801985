"""The address of a model server that somebody typed: whether this server may connect to it.

Only whoever may choose the model types one, and nothing is followed to another address.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from generator.lm.server.server_address import server_addresses
from indexing.errors import InvalidRequest
from indexing.message import N_
from indexing.models.server.server_name import PREFIX, parse_server_name

USUAL = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
}
"""Where servers of models listen unless somebody says otherwise."""

MAX_ADDRESS = 500  # characters


def check_address(address: str, *, key: str) -> str:
    """A typed address, such as "localhost:11434/v1", as a base URL, if it may be connected to.

    Without a scheme it is http. The key is what would be sent to it; "" for nothing.

    Raises:
        InvalidRequest: It is no address of a server, cannot be one of models, or would get a key
            that others can read on the way.
    """
    text = address.strip()
    if len(text) > MAX_ADDRESS or "#" in text or not text.isprintable() or " " in text:
        raise InvalidRequest(
            N_("%(name)s is no address; write http://localhost:11434/v1", name=repr(text[:80]))
        )
    url, _ = parse_server_name(f"{PREFIX}{text if '://' in text else f'http://{text}'}#any")
    server_addresses(url, has_key=bool(key))
    return url


def is_elsewhere(url: str) -> bool:
    """Whether what is sent to an address leaves this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True
