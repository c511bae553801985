"""Which files a walk finds, in which order, and what it reports instead of following."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import UnreadableFile
from indexing.loaders.__main__ import extracts
from indexing.walk import Failure, is_gone, walk
from rag_app.corpus.corpus import Corpus
from tests.permissions import unprivileged


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("words")
    return path.resolve()


def failures(paths: list[Path]) -> list[Failure]:
    return [each for each in walk(paths) if isinstance(each, Failure)]


def test_folders_are_walked_in_order_without_hidden_names(tmp_path: Path) -> None:
    wanted = [touch(tmp_path / name) for name in ("a/2.md", "a/b/1.txt", "a/c.TXT", "b.pdf")]
    for name in (".hidden.txt", ".git/x.txt", ".rag-app/x.txt", "a/.rag-app/x.txt"):
        touch(tmp_path / name)
    skipped: Counter[str] = Counter()
    for name in ("a/x.png", "y.png", "Makefile"):
        touch(tmp_path / name)
    assert list(walk([tmp_path], skipped=skipped)) == wanted
    assert skipped == {".png": 2, "": 1}


def test_a_file_is_found_once_however_it_is_named(tmp_path: Path) -> None:
    file = touch(tmp_path / "a" / "x.txt")
    named = [file, tmp_path / "a", tmp_path, tmp_path / "a" / ".." / "a" / "x.txt"]
    assert list(walk(named)) == [file]
    assert list(walk([tmp_path / "a", tmp_path])) == [file]


def test_loops_of_links_end(tmp_path: Path) -> None:
    file = touch(tmp_path / "a" / "x.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    (tmp_path / "again.txt").symlink_to(file)
    (tmp_path / "round.txt").symlink_to(tmp_path / "round.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing.txt")
    found = list(walk([tmp_path]))
    assert [each for each in found if isinstance(each, Path)] == [file]
    reasons = {Path(each.path).name: each.reason for each in found if isinstance(each, Failure)}
    assert set(reasons) == {"round.txt", "gone.txt"}
    assert reasons["gone.txt"] == "is a link to something that is gone"


def test_links_out_of_the_folder_are_reported(tmp_path: Path) -> None:
    outside = touch(tmp_path / "outside" / "secret.txt")
    file = touch(tmp_path / "in" / "x.txt")
    (tmp_path / "in" / "link.txt").symlink_to(outside)
    (tmp_path / "in" / "folder").symlink_to(outside.parent)
    found = list(walk([tmp_path / "in"]))
    assert [each for each in found if isinstance(each, Path)] == [file]
    reported = [each for each in found if isinstance(each, Failure)]
    assert [Path(each.path).name for each in reported] == ["folder", "link.txt"]
    assert all("leads out of the folder" in each.reason for each in reported)
    # Named by the person, it is followed; and so it is when the folder it leads to is named.
    assert list(walk([tmp_path / "in" / "link.txt"])) == [outside]
    both = list(walk([tmp_path / "in", tmp_path / "outside"]))
    assert sorted(each for each in both if isinstance(each, Path)) == [file, outside]
    assert failures([tmp_path / "in", tmp_path / "outside"]) == []


def test_what_a_person_names_is_never_passed_over(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    touch(tmp_path / "pictures" / "a.png")
    named = [tmp_path / "gone.txt", touch(tmp_path / "a.doc"), tmp_path / "empty"]
    gone, other, empty, pictures, strange = failures(
        [*named, tmp_path / "pictures", tmp_path / "a\0b.txt"]
    )
    assert strange.reason == "is no possible name"
    assert gone.reason == "does not exist"
    assert "ends in .doc," in other.reason and ".docx" in other.remedy
    assert empty.reason == "holds no file that can be read (0 of other kinds)"
    assert pictures.reason == "holds no file that can be read (1 of other kinds)"
    assert touch(tmp_path / ".notes.txt") in list(walk([tmp_path / ".notes.txt"]))


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (failure,) = failures([tmp_path])
    assert failure.reason == "is not a regular file"
    assert failures([tmp_path / "pipe.txt"]) == [failure]


def test_a_closed_folder_and_file_are_reported() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        touch(folder / "closed" / "x.txt")
        assert list(extracts(touch(folder / "y.txt")))  # imports what reads it
        (folder / "y.txt").chmod(0)
        (folder / "closed").chmod(0)
        with unprivileged():
            (failure,) = failures([folder])
            (unread,) = extracts(folder / "y.txt")
        (folder / "closed").chmod(0o700)
    assert failure.path == str(folder / "closed")
    assert isinstance(unread, UnreadableFile)
    for each in (failure, unread):
        assert each.reason == "cannot be read (Permission denied)"
        assert each.remedy == "give yourself the right to read it"


def test_a_folder_that_may_be_listed_but_not_entered_is_one_failure() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        good = touch(folder / "a.txt")
        inside = [touch(folder / "listed" / each) for each in ("x.txt", "y.txt", "z/w.txt")]
        (folder / "listed").chmod(0o444)
        with unprivileged():
            found = list(walk([folder]))
            below = failures([inside[0]])
            gone = [is_gone(str(each)) for each in inside]
        (folder / "listed").chmod(0o700)
    (failure,) = (each for each in found if isinstance(each, Failure))
    assert [each for each in found if isinstance(each, Path)] == [good]
    assert failure.path == str(folder / "listed")
    assert failure.reason == below[0].reason == "cannot be read (Permission denied)"
    assert gone == [False, False, False]  # who may not look cannot tell
    assert is_gone(str(good)) and not is_gone("chat")


def test_a_tree_deeper_than_a_path_may_be_long(tmp_path: Path) -> None:
    good, name = touch(tmp_path / "a.txt"), "d" * 200
    before = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(25):
            Path(name).mkdir()
            os.chdir(name)
        Path("deep.txt").write_text("words")
    finally:
        os.chdir(before)
    found = list(walk([tmp_path]))
    (failure,) = (each for each in found if isinstance(each, Failure))
    assert [each for each in found if isinstance(each, Path)] == [good]
    assert failure.reason == "cannot be read (File name too long)"
    assert "shorter" in failure.remedy and len(failure.path) < 1000


def test_a_name_longer_than_any_can_be() -> None:
    (failure,) = failures([Path("x" * 5000)])
    assert failure.reason == "cannot be read (File name too long)" and len(failure.path) < 1000
    assert not is_gone(f"/{'x' * 5000}")


def test_names_are_safe_to_print(tmp_path: Path) -> None:
    (failure,) = failures([tmp_path / "a\x1b[2J\n.txt"])
    assert failure.path.endswith(r"a\x1b[2J\n.txt")
    raw = os.fsencode(tmp_path) + b"/\xff.txt"
    Path(os.fsdecode(raw)).write_text("words")
    (failure,) = failures([tmp_path])
    assert failure.reason == "has a name that is not valid UTF-8"
    failure.path.encode("utf-8")


def test_pictures_in_folders_are_passed_over_unless_they_are_wanted(tmp_path: Path) -> None:
    for name in ("a.txt", "b.PNG", "c.tiff"):
        (tmp_path / name).write_bytes(b"x")
    text, photo, scan = (tmp_path.resolve() / name for name in ("a.txt", "b.PNG", "c.tiff"))
    skipped: Counter[str] = Counter()
    assert list(walk([tmp_path], skipped=skipped)) == [text]
    assert skipped == {".png": 1, ".tiff": 1}
    assert list(walk([tmp_path], pictures=True)) == [text, photo, scan]
    assert list(walk([photo, tmp_path])) == [photo, text]


@pytest.mark.parametrize("inside", ["corpus", "a/b/corpus", "."])
def test_what_a_corpus_is_made_of_is_no_file_to_read(
    tmp_path: Path, encoder: Encoder, inside: str
) -> None:
    file = touch(tmp_path / "notes.txt")
    file.write_text("The ferry sails at nine.")
    with Corpus(tmp_path / inside, encoder=encoder) as corpus:
        for _ in range(2):
            report = corpus.add([tmp_path])
            assert report.skipped == {} and not report.failures
        touch(corpus.folder / "uploads" / "other.txt")  # as a person puts it there on the page
        beside = touch(corpus.folder / "minutes.txt")
        skipped: Counter[str] = Counter()
        assert set(walk([tmp_path], skipped=skipped)) == {file, beside}
        assert not skipped


def test_other_locks_and_databases_are_told_of(tmp_path: Path) -> None:
    for name in ("x.txt", "write.lock", "uploads/y.txt", "other.sqlite"):
        touch(tmp_path / name)
    skipped: Counter[str] = Counter()
    assert len(list(walk([tmp_path], skipped=skipped))) == 2
    assert skipped == {".lock": 1, ".sqlite": 1}
