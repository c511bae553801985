"""Passwords as scrypt hashes (RFC 7914), computed by OpenSSL: who reads the file learns none.

A hash is written as `$scrypt$ln=14,r=8,p=5$SALT$HASH`, the salt and the hash in Base64 without "=".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

LOG_N, BLOCK, LANES = 14, 8, 5  # 16 MiB; OWASP's password storage cheat sheet has these
_MEMORY = 256 << 20  # bytes that a hash of somebody else's making may take at most
_LENGTH = 32  # bytes of a hash
_HASH = re.compile(
    r"\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{8,88})\$([A-Za-z0-9+/]{22,88})"
)


@dataclass(frozen=True, slots=True)
class HashedPassword:
    """What is kept of a password, as it is written into a file."""

    text: str

    @classmethod
    def of(cls, password: str) -> HashedPassword:
        """The hash of a password, with a salt of its own."""
        salt = secrets.token_bytes(16)
        digest = _Cost(LOG_N, BLOCK, LANES).digest(password.encode(), salt, length=_LENGTH)
        settings = f"ln={LOG_N},r={BLOCK},p={LANES}"
        return cls(f"$scrypt${settings}${_base64(salt)}${_base64(digest)}")

    @classmethod
    def parse(cls, text: str) -> HashedPassword | None:
        """A hash that was written into a file; None where it is none, or takes too much memory."""
        match = _HASH.fullmatch(text)
        return cls(text) if match is not None and _Cost.of(match).is_bearable else None

    def matches(self, password: bytes) -> bool:
        """Whether it is the hash of this password, in UTF-8; takes a fifth of a second or so."""
        match = _HASH.fullmatch(self.text)
        assert match is not None, "checked when it was made"
        try:
            salt, digest = (_bytes(match[number]) for number in (4, 5))
        except binascii.Error:
            return False
        found = _Cost.of(match).digest(password, salt, length=len(digest))
        return hmac.compare_digest(found, digest)


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a hash takes: the logarithm of its length in blocks, their size, how often."""

    log_n: int
    block: int
    lanes: int

    @classmethod
    def of(cls, match: re.Match[str]) -> _Cost:
        return cls(*(int(match[number]) for number in (1, 2, 3)))

    @property
    def is_bearable(self) -> bool:
        if not 0 < self.log_n < 25 or not self.block or not self.lanes:
            return False
        return 128 * self.block * (1 << self.log_n) <= _MEMORY

    def digest(self, password: bytes, salt: bytes, *, length: int) -> bytes:
        return hashlib.scrypt(
            password,
            salt=salt,
            n=1 << self.log_n,
            r=self.block,
            p=self.lanes,
            maxmem=_MEMORY + (64 << 20),
            dklen=length,
        )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii").rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
