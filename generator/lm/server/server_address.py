"""The addresses that the name of a model server stands for: which of them may be connected to.

This machine and its network are where such servers run, so they are allowed; addresses at which no
server of models can be are not, among them those where clouds keep the secrets of a machine.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from indexing.errors import InvalidRequest
from indexing.message import N_

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def server_addresses(url: str, *, has_key: bool) -> tuple[str, ...]:
    """The addresses of a server by its URL, in the order in which to try them.

    Whoever connects uses these and does not ask again: the next answer to the same question may be
    another one (DNS rebinding).

    Raises:
        InvalidRequest: No machine has that name, no server of models can be there, or the key could
            be read on the way.
    """
    addresses = _resolve(url)
    places = [_plain(ipaddress.ip_address(one.partition("%")[0])) for one in addresses]
    if any(map(_is_no_server, places)):
        raise InvalidRequest(
            N_(
                "%(address)s: no server of models is at such an address; name its machine",
                address=url,
            )
        )
    if has_key and url.startswith("http:") and any(one.is_global for one in places):
        raise InvalidRequest(
            N_("%(address)s: http would send the key for all to read; write https://", address=url)
        )
    return addresses


def _resolve(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidRequest(
            N_("%(address)s: no such machine is known; correct the address", address=url)
        ) from error
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


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
