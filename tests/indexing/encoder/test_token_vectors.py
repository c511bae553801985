"""Vectors of single tokens on disk: what was kept is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.pooling import FloatArray, unit
from indexing.encoder.query_encoder import TokenVectors

TOKENS = [7, 3, 900, 12]


def vectors() -> FloatArray:
    return unit(np.random.default_rng(5).standard_normal((len(TOKENS), 8)))


@pytest.fixture
def kept(tmp_path: Path) -> TokenVectors:
    made = TokenVectors(tmp_path / "tokens.f32", 8)
    made.keep(TOKENS[:2], vectors()[:2])
    made.keep(TOKENS[2:], vectors()[2:])
    return made


def test_what_was_kept_is_found_to_the_last_bit(kept: TokenVectors) -> None:
    again = TokenVectors(kept.path, 8)
    np.testing.assert_array_equal(again.find([12, 7, 900, 3]), vectors()[[3, 0, 2, 1]])
    assert not again.find([0, 8, 899, 901, 30_000]).any()
    assert again.find([]).shape == (0, 8)


def test_a_row_that_was_half_written_is_not_there(kept: TokenVectors) -> None:
    with kept.path.open("r+b") as file:
        file.seek(7 * 32)
        file.write(bytes(16))
        file.seek(3 * 32)
        file.write(np.full(8, np.nan, "<f4").tobytes())
        file.truncate(900 * 32 + 20)
    found = kept.find(TOKENS)
    np.testing.assert_array_equal(found[3], vectors()[3])
    assert not found[:3].any()
    kept.keep(TOKENS, vectors())
    np.testing.assert_array_equal(kept.find(TOKENS), vectors())


def test_where_nothing_can_be_written_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for path in (tmp_path / "no" / "folder", tmp_path, tmp_path / "empty"):
        absent = TokenVectors(path, 8)
        assert not absent.find(TOKENS).any()
        if path.name != "empty":
            absent.keep(TOKENS, vectors())
            assert not absent.find(TOKENS).any()
