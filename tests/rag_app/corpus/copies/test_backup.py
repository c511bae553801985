"""A backup is of one moment, taken while others write; restored, it is what it was."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.store.store import FILE_NAME
from rag_app.corpus.copies.archive import MANIFEST
from rag_app.corpus.corpus import Corpus


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        uploads = corpus.folder / "uploads"
        uploads.mkdir(parents=True)
        (uploads / "heron.txt").write_text("The heron waits for the flood.")
        (uploads / ".half.part").write_text("half of")
        (corpus.folder / ".chats" / "me").mkdir(parents=True)
        (corpus.folder / ".chats" / "me" / "0.json").write_text("{}")
        corpus.add([uploads / "heron.txt"])
        corpus.add_text("The stork nests on the mill.", name="stork")
        yield corpus


def content(corpus: Corpus) -> list[Document]:
    return [corpus.document(one.id) for one in corpus.documents()]


def test_restored_elsewhere(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    backup = corpus.backup(tmp_path / "backup.zip")
    assert (backup.documents, backup.files) == (2, 2)
    assert not list(tmp_path.glob(".backup*"))
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        assert new.restore(tmp_path / "backup.zip").documents == 2
        heron, stork = content(new)
        assert [stork] == content(corpus)[1:]
        assert heron.path == (tmp_path / "new" / "uploads" / "heron.txt").as_posix()
        assert new.missing() == []
        assert new.verify().sound
        assert new.search("mill")[0].title == "stork"
        assert (new.folder / ".chats" / "me" / "0.json").read_text() == "{}"
        with pytest.raises(InvalidRequest, match="--replace"):
            new.restore(tmp_path / "backup.zip")


def test_conversations_stay_their_owners_only(
    corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    before = os.umask(0)
    try:
        waiting = corpus.folder / "uploads" / ".waiting"
        waiting.mkdir()
        for name in ("1-a-b.json", "1-a-b.data", "2-a-c.part", "a.lock"):
            (waiting / name).write_text("{}")
        corpus.backup(tmp_path / "backup.zip")
        with Corpus(tmp_path / "new", encoder=encoder) as new:
            new.restore(tmp_path / "backup.zip")
    finally:
        os.umask(before)
    chats = tmp_path / "new" / ".chats"
    paths = (tmp_path / "backup.zip", chats, chats / "me", chats / "me" / "0.json")
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o700, 0o700, 0o600]
    kept = tmp_path / "new" / "uploads" / ".waiting"
    assert sorted(each.name for each in kept.iterdir()) == ["1-a-b.data", "1-a-b.json"]


def test_those_who_have_it_open_see_what_was_restored(
    corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    before = content(corpus)
    corpus.backup(tmp_path / "backup.zip")
    with Corpus(corpus.folder, encoder=encoder) as other:
        corpus.add_text("The ibis came late.", name="ibis")
        assert other.search("ibis came")[0].title == "ibis"
        corpus.restore(tmp_path / "backup.zip", replace=True)
        assert content(other) == before
        assert "ibis" not in {hit.title for hit in other.search("ibis came")}
        other.add_text("The egret stayed.", name="egret")
    assert corpus.search("egret stayed")[0].title == "egret"
    assert corpus.verify().sound


@pytest.mark.parametrize("data", [b"", b"garbage " * 999])
def test_a_damaged_corpus_gives_way(
    data: bytes, corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    before = content(corpus)
    corpus.backup(tmp_path / "backup.zip")
    corpus.close()
    (corpus.folder / FILE_NAME).write_bytes(data)
    with pytest.raises(InvalidRequest, match="--replace"):
        corpus.restore(tmp_path / "backup.zip")
    corpus.restore(tmp_path / "backup.zip", replace=True)
    assert content(corpus) == before
    assert (corpus.folder / f"{FILE_NAME}.damaged-1").read_bytes() == data


def test_backups_while_a_writer_writes(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    """Each holds a state that was: every document up to one, and none after it."""
    done = threading.Event()

    def write() -> None:
        for number in range(8):
            corpus.add_text(f"Probe {number} fell on the ridge.", name=f"probe {number}")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    with Corpus(corpus.folder, encoder=encoder) as reader:
        count = 0
        while not done.is_set() or count < 2:
            reader.backup(tmp_path / f"{count}.zip")
            count += 1
    writer.join()
    for number in range(count):
        with Corpus(tmp_path / f"restored {number}", encoder=encoder) as restored:
            restored.restore(tmp_path / f"{number}.zip")
            names = [one.path for one in restored.documents()][2:]
            assert names == [f"probe {at}" for at in range(len(names))]
            assert restored.verify().sound


@pytest.mark.parametrize("name", ["../evil.txt", "uploads/../../evil.txt", "/tmp/evil.txt", "x/y"])
def test_a_hostile_backup_writes_nothing(name: str, corpus: Corpus, tmp_path: Path) -> None:
    corpus.backup(tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        entries = {one: archive.read(one) for one in archive.namelist()}
    manifest = json.loads(entries.pop(MANIFEST))
    entries[name] = b"evil"
    manifest["files"][name] = [4, hashlib.sha256(b"evil").hexdigest()]
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        for entry, data in {**entries, MANIFEST: json.dumps(manifest).encode()}.items():
            archive.writestr(entry, data)
    with Corpus(tmp_path / "new" / "corpus") as target:
        with pytest.raises(UnreadableFile, match="does not"):
            target.restore(tmp_path / "evil.zip")
        assert not list(tmp_path.rglob("evil.txt"))
        assert not (target.folder / FILE_NAME).exists()


def test_a_damaged_backup_changes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    before = content(corpus)
    corpus.backup(tmp_path / "backup.zip")
    data = bytearray((tmp_path / "backup.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "backup.zip").write_bytes(data)
    with pytest.raises(UnreadableFile, match="damaged"):
        corpus.restore(tmp_path / "backup.zip", replace=True)
    assert content(corpus) == before
    assert not list(corpus.folder.glob(".restore*"))
