"""The file: made whole, known again, and opened where nothing may be written."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from indexing.errors import CorpusDamaged, CorpusError, CorpusNotFound, CorpusReplaced
from indexing.store.database import Database, create, swap
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.repair.test_verification import FP, put
from tests.permissions import readable_by_all

NOBODY = 65534

READER = """
import os, sys
import urllib.parse  # which pathlib of Python 3.13 imports when it is needed
from pathlib import Path
from indexing.errors import CorpusError
from indexing.store.store import Store
os.seteuid(int(sys.argv[2]))
store = Store(Path(sys.argv[1]))
with store.reading():
    print([one.id for one in store.identities()], store.document("a" * 12).path)
try:
    store.remove(["a" * 12])
except CorpusError as error:
    print(type(error).__name__, "right to write" in str(error))
"""


def corpus(folder: Path) -> Store:
    store = Store(folder, create=True)
    store.set_fingerprint(FP)
    put(store, "a" * 12)
    return store


def test_made_whole_or_not_at_all(tmp_path: Path) -> None:
    create(tmp_path / FILE_NAME)
    assert [one.name for one in tmp_path.iterdir()] == [FILE_NAME]
    before = (tmp_path / FILE_NAME).read_bytes()
    create(tmp_path / FILE_NAME)  # somebody else was faster
    assert (tmp_path / FILE_NAME).read_bytes() == before
    with pytest.raises(CorpusError):
        create(tmp_path / "nowhere" / FILE_NAME)


def test_the_log_of_a_database_that_is_gone_is_not_applied(tmp_path: Path) -> None:
    store = corpus(tmp_path)
    store.path.unlink()
    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size
    assert Store(tmp_path, create=True).entries() == []


@pytest.mark.parametrize("log", [True, False])
def test_a_file_cut_to_nothing_is_no_empty_corpus(log: bool, tmp_path: Path) -> None:
    store = corpus(tmp_path)
    if not log:
        store.close()
    store.path.write_bytes(b"")
    for making in (True, False):
        with pytest.raises(CorpusDamaged, match="0 bytes"):
            Store(tmp_path, create=making)
    assert (tmp_path / f"{FILE_NAME}-wal").exists() == log
    with pytest.raises(CorpusNotFound):
        Database(tmp_path / "none")


def test_a_damaged_name_is_damage(tmp_path: Path) -> None:
    """SQLite quotes it in its error, which is no UTF-8 then."""
    Store(tmp_path, create=True).close()
    file = tmp_path / FILE_NAME
    sound, told = file.read_bytes(), 0
    for place in range(sound.index(b"documents"), sound.index(b"documents") + 400, 3):
        file.write_bytes(sound[:place] + b"\x98" + sound[place + 1 :])
        try:
            Store(tmp_path).close()
        except CorpusDamaged as error:
            told += "is no text" in str(error)
        except CorpusError:
            pass
    assert told


@pytest.mark.parametrize("new", [True, False])
def test_nothing_is_written_to_a_file_that_is_another(new: bool, tmp_path: Path) -> None:
    store = corpus(tmp_path)
    assert [store.is_current] == [True]
    store.path.rename(tmp_path / "moved")
    if new:
        create(store.path)
    assert [store.is_current] == [False]
    for write in (lambda: put(store, "b" * 12), lambda: store.remove(["a" * 12])):
        with pytest.raises(CorpusReplaced, match="run the same again"):
            write()
    assert [one.id for one in store.entries()] == ["a" * 12]


def test_a_damaged_file_makes_room_and_is_kept(tmp_path: Path) -> None:
    open_ = corpus(tmp_path)
    (tmp_path / f"{FILE_NAME}.damaged-1").write_text("an earlier one")
    create(tmp_path / "draft")
    aside = swap(tmp_path / "draft", open_.path)
    assert aside.name == f"{FILE_NAME}.damaged-2"
    assert not open_.is_current
    new = Store(tmp_path)
    open_.close()  # and leaves alone what is the new one's
    new.set_fingerprint(FP)
    put(new, "b" * 12)
    assert [one.id for one in Store(tmp_path).entries()] == ["b" * 12]
    with closing(Database(aside)) as old:
        assert old.rows("SELECT id FROM documents") == [("a" * 12,)]


def test_a_copy_is_of_one_moment(tmp_path: Path) -> None:
    store = corpus(tmp_path / "corpus")
    store.database.copy(tmp_path / FILE_NAME)
    put(store, "b" * 12)
    copy = Store(tmp_path)
    assert [one.id for one in copy.entries()] == ["a" * 12]
    with copy.reading():
        assert len(copy.entries()) == 1
        store.database.copy(copy.path)  # over one that is being read
        assert len(copy.entries()) == 1
    assert len(copy.entries()) == 2


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("in_use", [True, False])
def test_another_users_corpus_can_be_read(in_use: bool) -> None:
    """With its owner at work (a log beside the file) and without."""
    with TemporaryDirectory() as name, readable_by_all():
        Path(name).chmod(0o755)
        store = corpus(Path(name) / "corpus")
        if not in_use:
            store.close()
        for file in (Path(name) / "corpus").iterdir():
            file.chmod(0o644)
        command = [sys.executable, "-c", READER, str(store.folder), str(NOBODY)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == [
            f"['{'a' * 12}'] /notes/{'a' * 12}",
            "CorpusError True",
        ], done.stderr


def test_a_change_under_a_reader_without_a_log_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path).close()
    monkeypatch.setattr("indexing.store.database._may_write", lambda _: False)
    store = Store(tmp_path)
    assert store.database._immutable == (not (tmp_path / f"{FILE_NAME}-wal").exists())
    os.utime(store.path, ns=(1, 1))
    if store.database._immutable:
        assert not store.is_current
        with pytest.raises(CorpusError, match="while it was read"), store.reading():
            pass
    assert Store(tmp_path).is_current


def test_a_connection_that_nobody_uses_is_closed_at_once(tmp_path: Path) -> None:
    """Without waiting for the garbage collection, which a thread that ends does not set off."""
    create(tmp_path / FILE_NAME)

    def handles() -> list[str]:
        files = psutil.Process().open_files()
        return [each.path for each in files if each.path.startswith(str(tmp_path))]

    gc.disable()
    try:
        database = Database(tmp_path / FILE_NAME)
        assert database.rows("SELECT count(*) FROM documents") == [(0,)] and handles()
        del database
        assert handles() == []
    finally:
        gc.enable()


def test_rows_that_nobody_reads_to_the_end_may_outlive_the_connection(tmp_path: Path) -> None:
    create(tmp_path / FILE_NAME)
    database = Database(tmp_path / FILE_NAME)
    rows = database.each("SELECT 1 UNION SELECT 2")
    assert next(rows) == (1,)
    database.close()
    assert isinstance(rows, Generator)
    rows.close()  # as an error's traceback does when it is forgotten


def test_a_connection_that_is_closed_while_it_reads_hides_no_error(tmp_path: Path) -> None:
    create(tmp_path / FILE_NAME)
    database = Database(tmp_path / FILE_NAME)
    with pytest.raises(CorpusError, match="the first"), database.reading():
        database.close()
        raise CorpusError("the first")
