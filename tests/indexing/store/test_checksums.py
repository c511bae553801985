"""A checksum tells values, their types and their borders apart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import combinations
from zlib import crc32

from indexing.store.checksums import Value, checksum
from indexing.store.derived.triggers import register

VALUES: list[tuple[Value, ...]] = [
    (), (None,), (0,), (0.0,), ("",), (b"",), ("0",), (b"0",), ("a", "b"), ("ab",), ("ab", ""),
    (1, 23), (12, 3), (None, None), ("東京",), (b"\xff",), (2**62,), (1.5,),
]  # fmt: skip


def test_no_two_are_alike() -> None:
    assert all(checksum(*one) != checksum(*two) for one, two in combinations(VALUES, 2))


def test_it_is_the_crc_of_types_lengths_and_values() -> None:
    assert checksum(b"ab", 7) == crc32(b"bytes 2 abint 1 7")


def test_sqlite_computes_the_same() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        register(connection)
        for values in VALUES:
            places = ", ".join("?" * len(values))
            (value,) = connection.execute(f"SELECT checksum({places})", values).fetchone()
            assert value == checksum(*values)
