"""A corpus that is verified and repaired, and one that is deleted or replaced while it is open."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexing.encoder.encoder import Encoder
from indexing.errors import CorpusDamaged, CorpusNotFound, CorpusReplaced
from indexing.store.derived.triggers import register
from indexing.store.store import FILE_NAME
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

TEXTS = {"heron": "The heron waits for the flood.", "crane": "The crane left in October."}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path])
        corpus.add_text("The stork nests on the mill.", name="stork")
        yield corpus


def change(corpus: Corpus, statement: str) -> None:
    corpus.close()
    with closing(sqlite3.connect(corpus.folder / FILE_NAME)) as connection:
        register(connection)
        connection.execute(statement)
        connection.commit()


def texts(corpus: Corpus) -> dict[str, str]:
    return {one.title: corpus.document(one.id).text for one in corpus.documents()}


def test_just_the_damaged_documents_are_read_again(corpus: Corpus) -> None:
    before = {one.title: one for one in corpus.documents()}
    assert corpus.verify().sound
    change(corpus, "UPDATE documents SET text = 'The heron is a pelican.' WHERE title = 'heron'")
    change(corpus, "UPDATE documents SET vector = zeroblob(1536) WHERE title = 'stork'")
    found = corpus.verify()
    assert {one.document for one in found.damages} == {before["heron"].id, before["stork"].id}
    result = corpus.repair()
    assert set(result.repaired) == {before["heron"].id, before["stork"].id}
    assert (result.lost, result.aside) == ((), "")
    assert corpus.verify().sound
    after = {one.title: one for one in corpus.documents()}
    assert after["crane"] == before["crane"]
    assert texts(corpus) == {**TEXTS, "stork": "The stork nests on the mill."}
    assert corpus.search("nests on a mill")[0].title == "stork"
    assert corpus.repair().damages == ()


def test_what_cannot_be_read_again_stays_and_is_named(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "heron.txt").unlink()
    change(corpus, "UPDATE documents SET text = text || 'x' WHERE title != 'crane'")
    result = corpus.repair()
    assert result.repaired == ()
    assert sorted(Path(one.path).stem for one in result.lost) == ["heron", "stork"]
    assert len(corpus.documents()) == 3
    assert not corpus.verify().sound


def test_lost_settings_are_made_again(corpus: Corpus) -> None:
    before = corpus.info().fingerprint
    change(corpus, "DELETE FROM meta WHERE key = 'recipe'")
    with pytest.raises(CorpusDamaged, match="rag-app verify --repair"):
        corpus.search("heron")
    result = corpus.repair()
    assert len(result.repaired) == 3 and Path(result.aside).exists()
    assert corpus.info().fingerprint == before
    assert corpus.search("nests on a mill")[0].title == "stork"


def test_damaged_indexes_are_named_and_built_again(corpus: Corpus) -> None:
    segment = max((corpus.folder / ".index").glob("*.segment"))
    segment.write_bytes(b"none")
    (damage,) = corpus.verify().damages
    assert damage.what == "index" and segment.stem in damage.reason
    assert corpus.repair().damages == (damage,)
    assert corpus.verify().sound


def test_a_database_behind_its_indexes_has_lost_something(corpus: Corpus, tmp_path: Path) -> None:
    corpus.close()
    shutil.copy(corpus.folder / FILE_NAME, tmp_path / "earlier")
    corpus.add_text("The ibis came late.", name="ibis")
    corpus.close()
    shutil.copy(tmp_path / "earlier", corpus.folder / FILE_NAME)
    (damage,) = corpus.verify().damages
    assert "last changes are lost" in damage.reason


def test_nothing_to_read(corpus: Corpus, tmp_path: Path) -> None:
    corpus.close()
    (corpus.folder / FILE_NAME).write_bytes(b"")
    assert [one.what for one in corpus.verify().damages] == ["database"]
    with pytest.raises(CorpusDamaged, match="restore a backup") as caught:
        corpus.repair()
    assert "--repair" not in str(caught.value)
    (corpus.folder / FILE_NAME).write_bytes(b"no database " * 100)
    with pytest.raises(CorpusDamaged, match="restore a backup") as caught:
        corpus.repair()
    assert "--repair" not in str(caught.value)
    with pytest.raises(CorpusNotFound):
        Corpus(tmp_path / "none").verify()


@pytest.mark.parametrize("pages", [1, 2])
def test_documents_that_cannot_even_be_counted_are_told_as_lost(pages: int, corpus: Corpus) -> None:
    corpus.close()
    file = corpus.folder / FILE_NAME
    file.write_bytes(file.read_bytes()[: pages * 4096])
    result = corpus.repair()
    assert result.lost and "some may be lost" in str(result.lost[0])
    assert corpus.documents() == [] and result.aside
    done = CliRunner().invoke(main, ["verify", "--corpus", str(corpus.folder)])
    assert done.exit_code == 0  # what is there now is sound


def test_deleted_while_it_is_open(corpus: Corpus) -> None:
    assert len(corpus.documents()) == 3
    shutil.rmtree(corpus.folder)
    for use in (corpus.documents, lambda: corpus.search("heron"), corpus.info):
        with pytest.raises(CorpusNotFound):
            use()
    with pytest.raises(CorpusReplaced, match="deleted or replaced"):
        corpus.add_text("The ibis came late.", name="ibis")
    assert not corpus.folder.exists()
    corpus.add_text("The ibis came late.", name="ibis")  # now on purpose
    assert list(texts(corpus)) == ["ibis"]


def test_replaced_while_it_is_open(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "other", encoder=encoder) as other:
        other.add_text("The ibis came late.", name="ibis")
    assert corpus.search("heron")[0].title == "heron"
    corpus.folder.rename(tmp_path / "old")
    (tmp_path / "other").rename(corpus.folder)
    with pytest.raises(CorpusReplaced):
        corpus.add_text("The egret stayed.", name="egret")
    assert [hit.title for hit in corpus.search("heron")] == ["ibis"]
    assert list(texts(corpus)) == ["ibis"]
    with Corpus(tmp_path / "old", encoder=encoder) as old:
        assert len(old.documents()) == 3
