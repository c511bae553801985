"""A brake on wrong logins: after a few, a login has to wait at an address, longer each time.

It is of one login at one address: behind one address there may be a whole house, whose right logins
pass whatever somebody else there mistypes or guesses.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TTLCache

FREE = 5  # wrong logins without a wait
FIRST_WAIT, LONGEST_WAIT = 2.0, 900.0  # seconds; it doubles with each wrong login
FORGOTTEN = 3600.0  # seconds without a wrong login, after which all are forgotten
MOST_LOGINS = 10_000  # at addresses


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    last: float  # on the clock


class LoginBrake:
    """Counts the wrong passwords of each login at each address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: TTLCache[tuple[str, str], _Failures] = TTLCache(
            MOST_LOGINS, FORGOTTEN, timer=clock
        )

    def wait(self, user: str, address: str) -> float:
        """Seconds until another password of this login is looked at here; 0 for at once."""
        failures = self._failures.get(_key(user, address))
        if failures is None or failures.count < FREE:
            return 0.0
        wait = min(FIRST_WAIT * 2.0 ** min(failures.count - FREE, 30), LONGEST_WAIT)
        return max(failures.last + wait - self._clock(), 0.0)

    def wrong(self, user: str, address: str) -> None:
        """Note a wrong password."""
        key = _key(user, address)
        before = self._failures.get(key)
        self._failures[key] = _Failures(before.count + 1 if before else 1, self._clock())

    def right(self, user: str, address: str) -> None:
        """Forget the wrong passwords of a login at an address."""
        self._failures.pop(_key(user, address), None)


def _key(user: str, address: str) -> tuple[str, str]:
    return user[:100], _network(address)


def _network(address: str) -> str:
    """The address, or of IPv6 the network that one subscriber has (RFC 6177)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False))
