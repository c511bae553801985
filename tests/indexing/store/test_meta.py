"""What counts changes, and how vectors were made."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from indexing.errors import (
    EncoderMismatch,
)
from indexing.store.file_states import FileState
from indexing.store.store import Store
from tests.indexing.store.drawn import FP, encoded, put


def test_generation_and_stamp_follow_every_change(store: Store) -> None:
    put(store, "b" * 12)
    generations, stamps = [store.generation], [store.stamp]
    for change in (
        lambda: put(store, "a" * 12),
        lambda: store.move(store.identities()[0]),
        lambda: store.remove(["a" * 12]),
        lambda: store.reencoding.put("b" * 12, encoded(1), FP),
        lambda: store.reencoding.adopt(FP),
    ):
        change()
        generations.append(store.generation)
        stamps.append(store.stamp)
    assert [generation - generations[0] for generation in generations] == [0, 1, 2, 3, 3, 4]
    assert len(set(stamps)) == 5 and stamps[3] == stamps[4]
    store.files.remember("/a", FileState(1, 2))
    assert (store.generation, store.stamp) == (generations[-1], stamps[-1])


def test_two_corpora_of_one_history_have_different_stamps(tmp_path: Path) -> None:
    """So that the index of one is not taken for that of the other."""
    one, two = (Store(tmp_path / name, create=True) for name in ("one", "two"))
    assert one.stamp != two.stamp
    for store in (one, two):
        put(store, "a" * 12)
    assert one.generation == two.generation and one.stamp != two.stamp


def test_another_fingerprint_is_refused_with_a_command(store: Store, tmp_path: Path) -> None:
    put(store, "a" * 12)
    store.set_fingerprint(FP)
    odd = Store(tmp_path / "my corpus's", create=True)
    odd.set_fingerprint(FP)
    other = replace(FP, model="/my models/x", revision="r2", max_length=32, dtype="bfloat16")
    with pytest.raises(EncoderMismatch) as refused:
        odd.set_fingerprint(other)
    said = str(refused.value)
    for difference in ("model model here, /my models/x asked for", "max_length 64 here, 32 asked"):
        assert difference in said
    command = shlex.split(said[said.index("rag-app index") :])
    assert command == [
        *("rag-app", "index", "--reencode", "--corpus", str(tmp_path / "my corpus's")),
        *("--encoder", "/my models/x", "--extension", "pcw"),
        *("--max-length", "32", "--dtype", "bfloat16"),
    ]
    from rag_app.cli.main import index

    with index.make_context("index", command[2:]) as context:
        assert context.params["reencode"] and context.params["max_length"] == 32
    assert odd.fingerprint() == FP
