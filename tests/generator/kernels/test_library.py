"""The compiled library: made once and by nobody else, or the model reads by itself."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from generator.kernels import library as compiled
from generator.kernels.library import Unavailable, library
from generator.lm import decode_step as steps
from generator.lm.decode_step import compiled_steps, engine_here
from tests.generator.compilers import with_compiler
from tests.generator.ms_poe_models import build, tokens

posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty cache, where the library will be."""
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    library.cache_clear()
    yield tmp_path / "compiled"
    library.cache_clear()


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return str(path)


@with_compiler
@posix
def test_it_is_made_once_in_a_folder_of_its_own(kept: Path) -> None:
    found = library()
    (made,) = kept.iterdir()
    assert made.suffix == ".so" and stat.S_IMODE(kept.stat().st_mode) == 0o700
    before = made.stat()
    library.cache_clear()
    assert library() is not found and made.stat().st_mtime_ns == before.st_mtime_ns


@with_compiler
@posix
def test_a_folder_that_others_may_write_to_is_closed(kept: Path) -> None:
    kept.mkdir()
    kept.chmod(0o777)
    library()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("way", ["a link", "somebody else's", "a file"])
def test_code_is_run_from_no_other_folder(
    way: str, kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", script(tmp_path / "never", "touch called"))
    if way == "a link":
        (tmp_path / "other").mkdir()
        kept.symlink_to(tmp_path / "other")
    elif way == "a file":
        kept.write_text("")
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(Unavailable, match=r"belongs to somebody else|exists"):
        library()


@with_compiler
def test_many_processes_may_make_it_at_once(kept: Path) -> None:
    code = "from generator.kernels.library import library; library().step; print('made')"
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [one.communicate()[0].strip() for one in running] == ["made"] * 2
    assert [path.suffix for path in kept.iterdir()] == [".so"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (None, "no C compiler was found"),
        (["echo it does not like -march >&2", "exit 1"], "failed: it does not like -march"),
        (["exit 1"], "failed: no reason given"),
        (["exit 0"], "failed: no reason given"),  # and nothing was made
        (['while [ "$1" != -o ]; do shift; done', 'echo x > "$2"'], "cannot be made or used here"),
        (["sleep 9"], "took over 0.2 seconds"),
    ],
)
@posix
def test_without_a_compiler_the_model_reads_by_itself(
    lines: list[str] | None,
    reason: str,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if lines is None:
        monkeypatch.setattr(shutil, "which", lambda _: None)
        assert engine_here() == f"transformers ({reason})"
    else:
        monkeypatch.setenv("CC", script(tmp_path / "broken", *lines))
    monkeypatch.setattr(compiled, "_TIMEOUT", 0.2 if lines == ["sleep 9"] else 60)
    model: Any = build("llama", hidden_size=64)
    ids, more = tokens(8), tokens(1, seed=1)
    with compiled_steps(model) as held:
        _, cache = steps.forward(model, ids, None)
        found, _ = steps.forward(model, more, cache)
        assert held.engine().startswith("transformers (") and reason in held.engine()
    with torch.inference_mode():
        whole = model(input_ids=torch.cat([ids, more], dim=1)).logits[:, -1:]
    torch.testing.assert_close(found, whole)


@posix
def test_without_a_place_to_keep_it(
    kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("CC", script(tmp_path / "cc", "exit 1"))
    with pytest.raises(Unavailable, match="Not a directory"):
        library()


@posix
def test_other_sources_compilers_and_cpus_have_other_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, other = script(tmp_path / "one", ""), script(tmp_path / "other", "")
    found = [compiled._name([one]), compiled._name([other]), compiled._name([one, "-m64"])]
    monkeypatch.setattr(compiled, "_cpu", lambda: "another")
    found.append(compiled._name([one]))
    copied = shutil.copytree(compiled.SOURCES, tmp_path / "c")
    (copied / "rotation.h").write_text("/* another */")
    monkeypatch.setattr(compiled, "SOURCES", copied)
    found.append(compiled._name([one]))
    assert len(set(found)) == 5
