"""Compiled libraries: made once and by nobody else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from indexing.kernels import library
from indexing.kernels.library import Unavailable, compiled
from tests.compilers import compiler_script, with_compiler

posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, where libraries will be."""
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A function of a header beside it."""
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "answer.h").write_text("static int answer(void) { return 42; }")
    (folder / "ask.c").write_text('#include "answer.h"\nint ask(void) { return answer(); }')
    return folder / "ask.c"


@with_compiler
@posix
def test_it_is_made_once_in_a_folder_of_its_own(kept: Path, source: Path) -> None:
    assert compiled(source).ask() == 42
    (made,) = kept.iterdir()
    assert made.suffix == ".so" and stat.S_IMODE(kept.stat().st_mode) == 0o700
    before = made.stat()
    assert compiled(source).ask() == 42 and made.stat().st_mtime_ns == before.st_mtime_ns


@with_compiler
@posix
def test_a_folder_that_others_may_write_to_is_closed(kept: Path, source: Path) -> None:
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    compiled(source)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("way", ["a link", "somebody else's", "a file"])
def test_code_is_run_from_no_other_folder(
    way: str, kept: Path, source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", compiler_script(tmp_path / "never", "touch called"))
    kept.parent.mkdir()
    if way == "a link":
        (tmp_path / "other").mkdir()
        kept.symlink_to(tmp_path / "other")
    elif way == "a file":
        kept.write_text("")
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(Unavailable, match=r"belongs to somebody else|exists"):
        compiled(source)


@with_compiler
def test_many_processes_may_make_it_at_once(kept: Path, source: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from indexing.kernels.library import compiled;"
        "print(compiled(Path(sys.argv[1])).ask())"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(source)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [one.communicate()[0].strip() for one in running] == ["42"] * 2
    assert [path.suffix for path in kept.iterdir()] == [".so"]


@posix
@pytest.mark.usefixtures("kept")
def test_without_a_place_to_keep_it(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("CC", compiler_script(tmp_path / "cc", "exit 1"))
    with pytest.raises(Unavailable, match="Not a directory"):
        compiled(source)


@posix
def test_other_sources_compilers_and_cpus_have_other_libraries(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, other = (compiler_script(tmp_path / name, "") for name in ("one", "other"))
    names = [library._name(source, each) for each in ([one], [other], [one, "-m64"])]
    with monkeypatch.context() as patch:
        patch.setattr(library, "_cpu", lambda: "another")
        names.append(library._name(source, [one]))
    (source.parent / "answer.h").write_text("/* another */")
    names.append(library._name(source, [one]))
    assert len(set(names)) == 5
