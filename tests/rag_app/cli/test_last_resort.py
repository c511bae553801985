"""Whatever happens, the command line ends with one line, an exit status, and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from indexing.error_log import LOG_NAME, MAX_LOG
from indexing.errors import InvalidRequest
from rag_app.cli.last_resort import FAILED, STOPPED, UNEXPECTED, last_resort
from rag_app.corpus.corpus import Corpus

ROOT = Path(__file__).resolve().parents[3]


def command(
    *words: str, cwd: Path = ROOT, before: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the real command line, after some code of the test's."""
    program = f"{before}\nfrom rag_app.__main__ import run\nrun()"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def one_line(text: str) -> str:
    (line,) = text.splitlines()
    assert line.startswith("rag-app: ") and "Traceback" not in line
    return line


@pytest.fixture(scope="module")
def folder(samples_corpus: Corpus) -> Path:
    return samples_corpus.folder.resolve()


@pytest.fixture(scope="module")
def other_alphabet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose text latin1 cannot print."""
    folder = tmp_path_factory.mktemp("letters") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add_text("Žofie: Loď pluje v poledne 😀.", name="loď")
    return folder


def test_a_terminal_that_lacks_a_letter_gets_an_escape(other_alphabet: Path) -> None:
    words = ["--corpus", str(other_alphabet)]
    done = command("show", "loď", *words, PYTHONIOENCODING="latin1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Žofie: Loď pluje v poledne 😀."  # the text itself, to a file
    done = command("list", *words, PYTHONIOENCODING="latin1")
    assert (done.returncode, done.stderr) == (0, "") and "lo\\u010f" in done.stdout
    done = command("show", "loď", "--json", *words, PYTHONIOENCODING="latin1")
    assert json.loads(done.stdout)["text"] == "Žofie: Loď pluje v poledne 😀."


def test_a_full_disk_is_said(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for words in (["list", "--corpus", str(folder)], ["--help"]):
        program = "from rag_app.__main__ import run; run()"
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-c", program, *words],
                check=False,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
        assert done.returncode == FAILED, words
        assert "the output cannot be written" in one_line(done.stderr)


def test_a_deleted_working_folder_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    before = f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})"
    for words in (["list"], ["index", "a.txt"], ["batch", "q.txt", "--out", "a.jsonl"]):
        done = command(*words, before=before)
        assert done.returncode in {FAILED, 2}, words
        assert "Traceback" not in done.stderr
    done = command("list", before=before)
    assert "the working folder no longer exists" in one_line(done.stderr)


def test_no_temporary_folder_is_said(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text("The ferry sails at noon.", name="ferry")
    before = (
        "import tempfile; tempfile._candidate_tempdir_list = lambda: ['/proc/none']"
        "  # as where no folder can be written to"
    )
    (tmp_path / "a.txt").write_text("The ferry sails at one.")
    words = ["--corpus", str(tmp_path / "corpus")]
    for each in (["list"], ["index", str(tmp_path / "a.txt")], ["search", "ferry"]):
        done = command(*each, *words, before=before, RAG_APP_LOG=str(tmp_path))
        if done.returncode:
            assert "set TMPDIR" in one_line(done.stderr), each
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["rag_app.cli.main", "click", "indexing.errors"])
def test_ctrl_c_while_it_starts_leaves_no_traceback(module: str) -> None:
    """The signal comes in the midst of an import, wherever that is."""
    before = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
    done = command("list", before=before)
    assert done.returncode in {-signal.SIGINT, STOPPED}
    assert "Traceback" not in done.stderr


def test_nothing_is_loaded_before_ctrl_c_is_provided_for() -> None:
    """What is left is the start of Python itself, where no program has a say."""
    code = "import sys; before = set(sys.modules); import rag_app.__main__; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    loaded = set(done.stdout.split()) - set(sys.builtin_module_names)
    assert loaded == {"__future__", "rag_app", "rag_app.__main__"}


def test_ctrl_c_at_work_is_status_130(folder: Path) -> None:
    before = """
import os, signal
import rag_app.corpus.corpus as module
module.Corpus.documents = lambda self, where: os.kill(os.getpid(), signal.SIGINT)
"""
    done = command("list", "--corpus", str(folder), before=before)
    assert (done.returncode, one_line(done.stderr)) == (STOPPED, "rag-app: stopped")


def test_a_job_in_the_background_still_ignores_ctrl_c(folder: Path) -> None:
    before = """
import os, signal
import rag_app.corpus.corpus as module
documents = module.Corpus.documents
module.Corpus.documents = lambda self, where: os.kill(os.getpid(), signal.SIGINT) or documents(self)
signal.signal(signal.SIGINT, signal.SIG_IGN)
"""
    assert command("list", "--corpus", str(folder), before=before).returncode == 0


def test_a_defect_is_one_line_and_a_log_that_only_its_owner_reads(
    folder: Path, tmp_path: Path
) -> None:
    before = """
import rag_app.corpus.corpus as module
def documents(self, where): raise ZeroDivisionError("a\\nb")
module.Corpus.documents = documents
"""
    log = tmp_path / "logs" / LOG_NAME
    for count in (1, 2):
        done = command("list", "--corpus", str(folder), before=before, RAG_APP_LOG=str(log.parent))
        assert done.returncode == UNEXPECTED
        line = one_line(done.stderr)
        assert "ZeroDivisionError: a\\nb" in line and line.endswith(str(log))
        text = log.read_text()
        assert text.count("Traceback") == count and "command: list --corpus" in text
    assert log.stat().st_mode & 0o777 == 0o600
    log.write_bytes(b"x" * (MAX_LOG + 1))
    command("list", "--corpus", str(folder), before=before, RAG_APP_LOG=str(log.parent))
    assert log.stat().st_size < MAX_LOG


def test_where_no_log_can_be_written_the_line_is_still_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(SystemExit) as end, last_resort():
        raise ValueError("surprise")
    assert end.value.code == UNEXPECTED
    assert "set RAG_APP_LOG" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (InvalidRequest("an empty question; write one"), FAILED, "an empty question; write one"),
        (MemoryError(), FAILED, "memory ran out"),
        (PermissionError(13, "Permission denied", "/x\n/y"), FAILED, "/x\\n/y: Permission denied"),
        (KeyboardInterrupt(), STOPPED, "stopped"),
        (click.Abort(), STOPPED, "stopped"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), UNEXPECTED, "UnicodeDecodeError"),
        (RecursionError("deep"), UNEXPECTED, "RecursionError"),
    ],
)
def test_every_error_has_its_status(
    error: BaseException,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path))
    with pytest.raises(SystemExit) as end, last_resort():
        raise error
    assert end.value.code == status
    assert said in one_line(capsys.readouterr().err)


def test_a_name_of_5000_characters_leaves_the_remedy_in_sight(folder: Path) -> None:
    long = "/" + "/".join(["x" * 200] * 25)
    done = command("show", long, "--corpus", str(folder))
    line = one_line(done.stderr)
    assert done.returncode == FAILED and len(line) < 2100 and line.endswith("see: rag-app list")
    done = command("list", "--corpus", long)
    line = one_line(done.stderr)
    assert done.returncode == FAILED and len(line) < 2100 and line.endswith("with --corpus")
