"""Uploaded files: nothing is written elsewhere, too large or of an unsupported type."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import CorpusError, RagAppError, UnreadableFile
from rag_app.chat.uploads import MAX_DEPTH, MAX_NAME, WAITING, Uploads, safe_path


def receive(uploads: Uploads, name: str, content: bytes = b"words", pieces: int = 3) -> str:
    async def stream() -> AsyncIterator[bytes]:
        for at in range(pieces):
            yield content[at::pieces]

    received = asyncio.run(uploads.receive(name, stream()))
    status = uploads.records.keep(received.content, received.name, "waiting")
    assert not list((uploads.folder / WAITING).glob("*.part"))
    uploads.place(status)
    uploads.records.delete(status.id)
    return status.name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/notes.txt", "etc/notes.txt"),
        ("/etc/notes.txt", "etc/notes.txt"),
        ("C:\\Users\\x\\notes.TXT", "C_/Users/x/notes.TXT"),
        ("folder/.hidden/./a.vtt", "folder/hidden/a.vtt"),
        ("a\x00b\n\u202egnp.txt", "a_b__gnp.txt"),
        (f"{'long' * 100}.txt", f"{'long' * 29}.txt"),
        ("/".join("abcdefghijkl") + "/n.txt", "f/g/h/i/j/k/l/n.txt"),
    ],
)
def test_names_are_made_to_fit(tmp_path: Path, name: str, kept: str) -> None:
    assert safe_path(name).as_posix() == kept
    uploads = Uploads(tmp_path / "up", max_bytes=100)
    assert receive(uploads, name) == kept
    assert (tmp_path / "up" / kept).is_file()


@given(st.text(max_size=60))
def test_no_name_leads_out(name: str) -> None:
    try:
        path = safe_path(f"{name}.txt")
    except UnreadableFile:
        return
    assert not path.is_absolute() and ".." not in path.parts and len(path.parts) <= MAX_DEPTH
    assert all(0 < len(part) <= MAX_NAME and not part.startswith(".") for part in path.parts)


@pytest.mark.parametrize("name", ["", "..", "/", "program.exe", "notes", ".txt", "a.svg"])
def test_other_kinds_and_no_names_are_refused(tmp_path: Path, name: str) -> None:
    uploads = Uploads(tmp_path / "up", max_bytes=100)
    with pytest.raises(UnreadableFile):
        receive(uploads, name)
    assert not list(tmp_path.rglob("*.*"))


def test_a_file_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, max_bytes=100)
    assert receive(uploads, "just.txt", b"x" * 100) == "just.txt"
    with pytest.raises(UnreadableFile, match="larger"):
        receive(uploads, "over.txt", b"x" * 101)
    left = [path.name for path in tmp_path.rglob("*") if path.suffix != ".lock"]
    assert sorted(left) == [WAITING, "just.txt"]


def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, max_bytes=100)
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(CorpusError, match="cannot be saved"):
        receive(uploads, "a.txt")
    with pytest.raises(RagAppError):
        receive(Uploads(tmp_path / "a.txt" / "b", max_bytes=1), "c.txt")


def test_a_link_inside_leads_nowhere(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "up", max_bytes=100)
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "out").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(UnreadableFile, match="leads outside"):
        receive(uploads, "out/a.txt")
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("name", ["", "../secret.txt", "/etc/passwd", "a\x00.txt", "no.txt", "."])
def test_only_what_was_received_has_a_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("x")
    uploads = Uploads(tmp_path / "up", max_bytes=100)
    receive(uploads, "a.txt")
    assert uploads.path("a.txt") == tmp_path / "up" / "a.txt"
    assert uploads.path(name) is None


def test_only_what_was_received_is_dropped(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("mine")
    uploads = Uploads(tmp_path / "up", max_bytes=100)
    receive(uploads, "a.txt")
    uploads.delete(str(own))
    uploads.delete(str(tmp_path / "up" / ".." / "own.txt"))
    uploads.delete("up/a.txt")
    assert own.exists() and uploads.path("a.txt")
    uploads.delete(str(tmp_path / "up" / "a.txt"))
    assert uploads.path("a.txt") is None


def test_nothing_of_its_name_is_replaced_before_it_is_placed(tmp_path: Path) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"new"

    uploads = Uploads(tmp_path, max_bytes=100)
    receive(uploads, "a.txt", b"old")
    received = asyncio.run(uploads.receive("a.txt", stream()))
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert uploads.same(tmp_path / "a.txt", "a.txt")
    assert not uploads.same(received.content, "a.txt") and not uploads.same(received.content, "b")
    uploads.place(uploads.records.keep(received.content, received.name, "waiting"))
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_free_name_has_the_first_number_that_nobody_has(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, max_bytes=100)
    receive(uploads, "may/a.txt")
    assert uploads.free_name("may/a.txt", set()) == "may/a (2).txt"
    receive(uploads, "may/a (2).txt")
    assert uploads.free_name("may/a.txt", {"may/a (3).txt"}) == "may/a (4).txt"
    long = f"{'x' * (MAX_NAME - 4)}.txt"
    assert len(uploads.free_name(long, set())) == MAX_NAME


def test_what_waits_cannot_be_reached_by_a_name(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, max_bytes=100)
    receive(uploads, "a.txt")
    (tmp_path / WAITING / "x.txt").write_text("secret")
    assert uploads.path(f"{WAITING}/x.txt") is None
