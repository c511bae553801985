"""A fault of the program is told as one, with the log's place; a damaged file as damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from docx import Document as Word

from indexing.error_log import LOG_NAME
from indexing.errors import MissingDependency, ProgramFault, UnreadableFile
from indexing.limits import FileLimits
from indexing.loaders import LOADERS, process
from indexing.loaders.__main__ import extracts
from indexing.loaders.faults import is_of_program
from indexing.loaders.messages import pack, unpack
from indexing.loaders.process import LoaderProcess


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path / "log"))
    return tmp_path / "log" / LOG_NAME


def sample(tmp_path: Path, suffix: str) -> Path:
    path = tmp_path / f"sample{suffix}"
    path.write_bytes(b"\0\1\2 no such file")
    return path


def test_a_module_that_cannot_be_imported_is_no_damage(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = "import sys; sys.modules['docx'] = None; " + process._START
    monkeypatch.setattr("indexing.loaders.process._START", blocked)
    reader = LoaderProcess(FileLimits())
    Word().save(word := str(tmp_path / "sound.docx"))
    (fault,) = reader.extracts(Path(word))
    assert isinstance(fault, ProgramFault)
    assert "damaged" not in fault.reason and "ModuleNotFoundError" in fault.reason
    assert fault.reason.endswith(f"details: {log}") and "may be sound" in fault.remedy
    assert "Traceback" in log.read_text() and log.stat().st_mode & 0o777 == 0o600
    (damaged,) = reader.extracts(sample(tmp_path, ".pdf"))
    assert isinstance(damaged, UnreadableFile) and not isinstance(damaged, ProgramFault)
    reader.close()


@pytest.mark.parametrize("suffix", [*LOADERS])
def test_no_damage_of_a_file_is_called_a_fault_of_the_program(
    suffix: str, tmp_path: Path, log: Path
) -> None:
    found = list(extracts(sample(tmp_path, suffix)))
    assert not any(isinstance(each, ProgramFault) for each in found) and not log.exists()


def test_which_errors_are_the_programs() -> None:
    for error in (ImportError("x"), ModuleNotFoundError("x"), MissingDependency("a", "b", "c")):
        assert is_of_program(error)
    for other in (ValueError("x"), KeyError("x"), AssertionError("in a library"), NameError("x")):
        try:
            raise other
        except Exception as raised:
            assert not is_of_program(raised)  # not raised by a module of ours
    with pytest.raises(AssertionError) as caught:
        exec("assert False", {"__name__": "indexing.loaders.sample"})
    assert is_of_program(caught.value)


def test_it_crosses_the_border_of_the_process() -> None:
    fault = ProgramFault("a.txt", "is not read, by a fault of the program", "report it")
    assert isinstance(unpack(pack(fault), "a.txt"), ProgramFault)
