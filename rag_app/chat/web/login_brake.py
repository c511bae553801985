"""A brake on wrong logins: after a few, an address has to wait, longer each time."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

FREE = 5  # wrong logins without a wait
FIRST_WAIT, LONGEST_WAIT = 2.0, 900.0  # seconds; it doubles with each wrong login
FORGOTTEN = 3600.0  # seconds without a wrong login, after which all are forgotten
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    last: float  # on the clock


class LoginBrake:
    """Counts the wrong logins of each address.

    Args:
        clock: Seconds that only rise.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: LRUCache[str, _Failures] = LRUCache(MOST_ADDRESSES)

    def wait(self, address: str) -> float:
        """Seconds until another login of this address is looked at; 0 for at once."""
        failures = self._of(address)
        if failures is None or failures.count < FREE:
            return 0.0
        wait = min(FIRST_WAIT * 2.0 ** min(failures.count - FREE, 30), LONGEST_WAIT)
        return max(failures.last + wait - self._clock(), 0.0)

    def wrong(self, address: str) -> None:
        """Note a wrong login."""
        failures = self._of(address)
        count = failures.count + 1 if failures else 1
        self._failures[_network(address)] = _Failures(count, self._clock())

    def right(self, address: str) -> None:
        """Forget the wrong logins of an address."""
        self._failures.pop(_network(address), None)

    def _of(self, address: str) -> _Failures | None:
        failures: _Failures | None = self._failures.get(_network(address))
        if failures is None or self._clock() - failures.last > FORGOTTEN:
            return None
        return failures


def _network(address: str) -> str:
    """The address, or of IPv6 the network that one subscriber has (RFC 6177)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False))
