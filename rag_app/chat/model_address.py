"""The address of a model server that somebody typed: whether this server may connect to it.

Only whoever may choose the model types one, and nothing is followed to another address. This
machine and its network are where such servers run, so they are allowed; addresses at which no
server of models can be are not, among them those where clouds keep the secrets of a machine.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from generator.lm.model_name import PREFIX, parse_server_name
from indexing.errors import InvalidRequest

USUAL = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
}
"""Where servers of models listen unless somebody says otherwise."""

MAX_ADDRESS = 500  # characters

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_address(address: str, *, key: str) -> str:
    """A typed address as a base URL, if it may be connected to.

    Args:
        address: Such as "localhost:11434/v1"; without a scheme it is http.
        key: What would be sent to it; "" for nothing.

    Raises:
        InvalidRequest: It is no address of a server, cannot be one of models, or would get a key
            that others can read on the way.
    """
    text = address.strip()
    if len(text) > MAX_ADDRESS or "#" in text or not text.isprintable() or " " in text:
        raise InvalidRequest(f"{text[:80]!r} is no address; write http://localhost:11434/v1")
    url, _ = parse_server_name(f"{PREFIX}{text if '://' in text else f'http://{text}'}#any")
    places = _resolve(url)
    if any(_is_no_server(one) for one in places):
        raise InvalidRequest(f"{url}: no server of models is at such an address; name its machine")
    if key and url.startswith("http:") and any(one.is_global for one in places):
        raise InvalidRequest(f"{url}: http would send the key for all to read; write https://")
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


def _resolve(url: str) -> list[Address]:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidRequest(f"{url}: no such machine is known; correct the address") from error
    return [_plain(ipaddress.ip_address(str(one[4][0]).partition("%")[0])) for one in addresses]


def _plain(address: Address) -> Address:
    """An IPv4 address that is written as IPv6, as itself."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_no_server(address: Address) -> bool:
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or (address.is_reserved and not address.is_loopback)
    )
