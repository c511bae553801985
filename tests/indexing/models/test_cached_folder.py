"""A folder that is made once: whole or not at all, by one process, and a full disk is told."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from indexing.errors import ModelError
from indexing.models.cached_folder import cached_folder

SIZE = 100_000  # bytes

MAKE = """
import sys, time
from pathlib import Path
from indexing.models.cached_folder import cached_folder

def make(into):
    (into / "a").write_text("whole")
    with Path(sys.argv[1]).with_name("makers").open("a") as makers:
        makers.write("one\\n")
    time.sleep(0.2)

print((cached_folder(Path(sys.argv[1]), make, doing="writing") / "a").read_text())
"""


@contextmanager
def no_room() -> Iterator[None]:
    """Inside, no file grows beyond half the size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE // 2, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def write_bytes(into: Path) -> None:
    (into / "model.bin").write_bytes(b"a" * SIZE)


def write_weights(into: Path) -> None:
    save_file({"a": torch.zeros(SIZE)}, into / "model.safetensors")


@pytest.mark.parametrize("make", [write_bytes, write_weights])
def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    target = tmp_path / "models" / "a"
    with pytest.raises(ModelError, match=r"make room there, or name .* RAG_APP_CACHE"), no_room():
        cached_folder(target, make, doing="writing a")
    assert [each.name for each in target.parent.iterdir()] == ["a.lock"]
    assert [*cached_folder(target, make, doing="writing a").iterdir()]


def test_what_is_wrong_otherwise_is_passed_on(tmp_path: Path) -> None:
    def make(into: Path) -> None:
        raise FileNotFoundError(2, "No such file or directory", "model.gguf")

    with pytest.raises(FileNotFoundError):
        cached_folder(tmp_path / "a", make, doing="writing a")
    assert not (tmp_path / "a.part").exists()


def test_of_processes_at_once_one_makes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKE, str(tmp_path / "a")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [each.communicate()[0] for each in running] == ["whole\n"] * 3
    assert (tmp_path / "makers").read_text() == "one\n"
