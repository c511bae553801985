"""Derived indexes that cannot be saved stop nobody."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.shards.manifest import Division
from rag_app.corpus.write_lock import lock


def test_a_lock_on_the_index_stops_nobody(corpus: Corpus, encoder: Encoder) -> None:
    """Somebody writes, and segments are lost: a search makes its own and goes on."""
    shutil.rmtree(corpus.folder / ".index")
    with (
        lock(corpus.folder),
        Corpus(corpus.folder, encoder=encoder) as other,
    ):
        assert other.search("probe 3")[0].title == "probe 3"
        assert other.info().snapshot == "missing"


def test_an_index_that_cannot_be_kept_is_told(tmp_path: Path, encoder: Encoder) -> None:
    told: list[str] = []
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / ".index").write_text("in the way")
    with Corpus(tmp_path / "corpus", encoder=encoder, notify=told.append) as corpus:
        assert len(corpus.add_text("Probe 3 fell.", name="probe 3").added) == 1
        assert corpus.search("probe 3")[0].title == "probe 3"
    assert told and "cannot be saved" in told[0]


def test_shards_and_one_piece_are_refreshed_alike(corpus: Corpus) -> None:
    indexes = corpus._indexes
    for division in (None, Division(3), None):
        if division is None:
            indexes.unite()
        else:
            assert len(indexes.divide(division).shards) == 3
        corpus.add_text(f"A probe in {division}.", name="latest")
        with corpus.writing() as store:
            assert indexes.published.are_current(store) and not indexes.published.damage(store)
            with store.meta.changing():
                store.index.outdate([store.document_rows()[0][0]])
            assert not indexes.published.are_current(store)
            indexes.refresh(store)
            assert indexes.published.are_current(store)
        assert (indexes.manifest is None) is (division is None)
        assert corpus.search("a probe in", k=99)[0].title


def test_gpus_are_refused_without_a_cluster(corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="on a Ray cluster only"):
        corpus.divide(2, gpus=0.5)
    assert corpus.shards is None
