"""Whatever a file does to the process that reads it, the file is reported and the next is read."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from docx import Document as Word

from indexing.documents import Extract
from indexing.errors import ReaderFailed, UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders.process import LoaderProcess
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
SMALL = FileLimits(seconds=60, memory=256 * MIB)


@pytest.fixture
def process() -> Iterator[LoaderProcess]:
    process = LoaderProcess(SMALL)
    yield process
    process.close()


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.txt"
    path.write_text("Some words.")
    return path


def refused(process: LoaderProcess, path: Path) -> UnreadableFile:
    (found,) = process.extracts(path)
    assert isinstance(found, UnreadableFile)
    assert found.path == str(path) and found.remedy
    return found


def reads(process: LoaderProcess, path: Path) -> bool:
    (found,) = process.extracts(path)
    return isinstance(found, Extract) and found.text == "Some words."


def word(path: Path, body: str) -> Path:
    """A Word document with this XML as its body."""
    data = io.BytesIO()
    Word().save(data)
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            text = old.read(part)
            if part == "word/document.xml":
                start, end = text.index(b"<w:body>") + 8, text.index(b"</w:body>")
                text = text[:start] + body.encode() + text[end:]
            new.writestr(part, text)
    return path


def slow(path: Path, elements: int = 1_500_000) -> Path:
    path.write_text("<b>x</b>" * elements)
    return path


def test_it_ends_when_nobody_has_it_any_more(good: Path) -> None:
    process = LoaderProcess(SMALL)
    assert reads(process, good)
    running = process._process
    del process
    gc.collect()
    assert running is not None and running.returncode is not None


def busy(process: subprocess.Popen[bytes]) -> Callable[[], bool]:
    """Whether a process has computed for half a second of CPU time from now: it reads a file."""

    def spent() -> float:
        times = psutil.Process(process.pid).cpu_times()
        return float(times.user + times.system)

    before = spent()
    return lambda: spent() > before + 0.5


def test_one_process_reads_file_after_file(process: LoaderProcess, good: Path) -> None:
    assert reads(process, good)
    running = process._process
    assert reads(process, good) and process._process is running
    process.close()
    assert running is not None and running.returncode is not None
    assert reads(process, good)  # reading starts it again


def test_a_small_file_that_fills_the_memory(
    process: LoaderProcess, good: Path, tmp_path: Path
) -> None:
    bomb = word(tmp_path / "a.docx", "<w:p/>" * 4_000_000)
    assert bomb.stat().st_size < 100_000
    failure = refused(process, bomb)
    assert failure.reason == "takes more than 256 MiB of memory to read"
    assert "--max-file-memory-mb 512" in failure.remedy
    assert reads(process, good)


def test_a_file_that_takes_too_long(good: Path, tmp_path: Path) -> None:
    process = LoaderProcess(replace(SMALL, seconds=1, memory=8192 * MIB))
    failure = refused(process, slow(tmp_path / "a.html"))
    assert failure.reason == "takes more than 1 seconds to read"
    assert "--max-file-seconds 2" in failure.remedy
    assert reads(process, good)
    process.close()


def test_too_much_text(good: Path, tmp_path: Path) -> None:
    process = LoaderProcess(replace(SMALL, characters=11))
    path = tmp_path / "a.txt"
    path.write_text("Some words and more.")
    failure = refused(process, path)
    assert failure.reason == "holds more than 11 characters of text"
    assert "--max-file-characters 22" in failure.remedy
    assert reads(process, good)
    process.close()


def test_a_crash_of_the_process_is_that_of_a_file(good: Path, tmp_path: Path) -> None:
    process = LoaderProcess(replace(SMALL, memory=8192 * MIB))
    assert reads(process, good)
    running, found = process._process, list[UnreadableFile]()
    assert running is not None
    path = slow(tmp_path / "a.html")
    begun = busy(running)
    reading = threading.Thread(target=lambda: found.append(refused(process, path)))
    reading.start()
    wait_until(begun)
    os.kill(running.pid, signal.SIGSEGV)
    reading.join()
    assert found[0].reason == f"crashes the program that reads it (signal {signal.SIGSEGV:d})"
    assert reads(process, good)
    process.close()


def test_an_interruption_leaves_no_process_behind(good: Path, tmp_path: Path) -> None:
    process = LoaderProcess(replace(SMALL, memory=8192 * MIB))
    assert reads(process, good)
    running = process._process
    assert running is not None
    begun, path = busy(running), slow(tmp_path / "a.html")

    def interrupt() -> None:
        wait_until(begun)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        process.extracts(path)
    assert running.returncode is not None
    assert reads(process, good)
    process.close()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    path = slow(tmp_path / "a.html")
    script = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "from indexing.limits import FileLimits\n"
        "from indexing.loaders.process import LoaderProcess\n"
        "process = LoaderProcess(FileLimits(memory=1 << 33))\n"
        "process._running()\n"
        "print(process._process.pid, flush=True)\n"
        "threading.Thread(target=process.extracts, args=[Path(sys.argv[1])]).start()\n"
        "while not process._lock.locked(): pass\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    wait_until(lambda: not _runs(int(done.stdout)))


def _runs(process: int) -> bool:
    """Whether a process is there, and more than an entry that nobody has collected."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def test_it_imports_no_heavy_library() -> None:
    script = (
        "import sys, indexing.loaders.__main__\n"
        "print({'torch', 'numpy', 'transformers', 'faiss'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "set()\n"


def test_modules_that_lie_beside_the_documents_are_not_imported(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "docx", "signal"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    process = LoaderProcess(SMALL)
    assert reads(process, good)
    process.close()
    assert not (tmp_path / "ran").exists()


def test_a_process_that_cannot_start_is_an_error_of_ours(
    process: LoaderProcess, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "no-python"))
        with pytest.raises(ReaderFailed, match="close other programs"):
            process.extracts(good)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "path", [each for each in sys.path if "python3" in each])
        patched.setattr("indexing.loaders.process._START", "raise ImportError('no lxml here')")
        with pytest.raises(ReaderFailed, match="no lxml here"):
            process.extracts(good)
    assert reads(process, good)
