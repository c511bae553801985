"""A corpus that is closed, absent, damaged, or in the way of itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusNotFound,
)
from indexing.store.store import FILE_NAME
from rag_app.corpus.corpus import Corpus


def test_closed_and_used_again(corpus: Corpus, encoder: Encoder) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(corpus.search, ["probe"] * 4))
    before = corpus.search("probe 3")
    corpus.close()
    corpus.close()
    assert corpus.search("probe 3") == before


def test_a_corpus_does_not_index_itself(tmp_path: Path, encoder: Encoder) -> None:
    """Nor another one that lies beside the files."""
    (tmp_path / "a.txt").write_text("A probe fell.")
    with Corpus(tmp_path / "one", encoder=encoder) as first:
        first.add([tmp_path])
        with Corpus(tmp_path / "two", encoder=encoder) as second:
            report = second.add([tmp_path])
            assert len(report.added) == 1 and not report.failures
            assert [entry.title for entry in second.documents()] == ["a"]
            assert first.add([tmp_path]).unchanged == 1


def test_an_absent_corpus(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "nowhere", encoder=encoder) as corpus:
        for use in (
            lambda: corpus.search("probe"),
            corpus.documents,
            corpus.info,
            lambda: corpus.remove(["x"]),
            corpus.reencode,
            lambda: next(corpus.stream("probe?")),
        ):
            with pytest.raises(CorpusNotFound, match="rag-app index"):
                use()
        assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_a_file(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "file").write_text("mine")
    with Corpus(tmp_path / "file", encoder=encoder) as corpus:
        with pytest.raises(CorpusError, match="--corpus"):
            corpus.add_text("A probe.", name="a")
        with pytest.raises(CorpusNotFound):
            corpus.search("probe")
        assert (tmp_path / "file").read_text() == "mine"


def test_a_damaged_database(corpus: Corpus, encoder: Encoder) -> None:
    corpus.close()
    path = corpus.folder / FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096 : len(data) // 2] = b"\xee" * (len(data) // 2 - 4096)
    path.write_bytes(data)
    for use in (
        lambda: corpus.search("probe"),
        lambda: corpus.add_text("More.", name="more"),
        corpus.documents,
        corpus.info,
    ):
        with pytest.raises(CorpusDamaged, match="move the folder away"):
            use()
