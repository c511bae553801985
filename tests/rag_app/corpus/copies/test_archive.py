"""Archives of ours come back whole; what a stranger might send is refused."""

from __future__ import annotations

import hashlib
import json
import warnings
import zipfile
from pathlib import Path

import pytest

from indexing.errors import CorpusError, UnreadableFile
from rag_app.corpus.copies.archive import MANIFEST, reading, safe_name, writing


def write(path: Path, **entries: bytes) -> None:
    with writing(path, kind="backup", format_=1, version="1", facts={"n": 1}) as archive:
        for name, data in entries.items():
            archive.add(name, [data[:3], data[3:]])


def test_entries_come_back(tmp_path: Path) -> None:
    write(tmp_path / "a", one=b"first", two=b"")
    write(tmp_path / "a", one=b"second")  # over an earlier one
    with reading(tmp_path / "a", kind="backup", format_=1) as archive:
        assert archive.manifest.facts == {"n": 1}
        archive.extract("one", tmp_path / "out" / "one")
    assert (tmp_path / "out" / "one").read_bytes() == b"second"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "out"]


def test_a_file_of_somebody_elses_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match="another name"):
        write(tmp_path / "notes.txt")
    with pytest.raises(CorpusError, match="cannot be written"):
        write(tmp_path / "nowhere" / "a")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_failure_leaves_the_earlier_one(tmp_path: Path) -> None:
    write(tmp_path / "a", one=b"first")
    before = (tmp_path / "a").read_bytes()
    with (
        pytest.raises(ZeroDivisionError),
        writing(tmp_path / "a", kind="backup", format_=1, version="1", facts={}) as archive,
    ):
        archive.add("one", [b"second"])
        _ = 1 / 0
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [before]


def hostile(path: Path, entries: list[tuple[str, bytes]], **changes: object) -> None:
    files = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in entries}
    manifest = {
        "kind": "rag-app backup",
        "format": 1,
        "version": "1",
        "created": "",
        "files": files,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
        archive.writestr(MANIFEST, json.dumps({**manifest, **changes}))


@pytest.mark.parametrize(
    ("entries", "changes", "reason"),
    [
        ([("a", b"1")], {"files": {}}, "not those it names"),
        ([("a", b"1")], {"files": {"a": [2, ""]}}, "not those it names"),
        ([("a", b"1")], {"files": {"a": [1, ""], "b": [1, ""]}}, "not those it names"),
        ([("a", b"1"), ("a", b"2")], {}, "not those it names"),
        ([("a", bytes(64 << 20))], {}, "far larger"),
        ([], {"format": 2}, "pip install --upgrade"),
        ([], {"kind": "rag-app export"}, "rag-app import"),
        ([], {"files": 3}, "no archive of rag-app"),
        ([], {"format": None}, "no archive of rag-app"),
    ],
)
def test_what_does_not_fit_is_refused(
    entries: list[tuple[str, bytes]], changes: dict[str, object], reason: str, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a name that is there twice
        hostile(tmp_path / "a", entries, **changes)
    with (
        pytest.raises(UnreadableFile, match=reason),
        reading(tmp_path / "a", kind="backup", format_=1),
    ):
        pass


def test_other_bytes_than_the_manifest_names(tmp_path: Path) -> None:
    hostile(tmp_path / "a", [("a", b"1")], files={"a": [1, hashlib.sha256(b"2").hexdigest()]})
    with reading(tmp_path / "a", kind="backup", format_=1) as archive:
        with pytest.raises(UnreadableFile, match="not as it was written"):
            archive.extract("a", tmp_path / "out")
        with pytest.raises(UnreadableFile, match="has no b"):
            archive.extract("b", tmp_path / "out2")


@pytest.mark.parametrize("data", [b"", b"garbage" * 99, b"PK\5\6" + bytes(18)])
def test_no_archive_at_all(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    for name in ("a", "none"):
        with pytest.raises(UnreadableFile), reading(tmp_path / name, kind="backup", format_=1):
            pass


def test_names_stay_within_the_folder() -> None:
    good = ("corpus.sqlite", "uploads/a.txt", "uploads/d/ä b.txt")
    bad = (
        *("/etc/passwd", "../a", "uploads/../../a", "uploads/./a", "uploads//a", "", "."),
        *("other/a", "uploads\\..\\a", "C:a", "uploads/a\0", "..", "/"),
    )
    assert all(safe_name(one, folders=["uploads"]) for one in good)
    assert not any(safe_name(one, folders=["uploads"]) for one in bad)
