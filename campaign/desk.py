"""A corpus under attack: its files, how it began, and how an undisturbed run ends."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from indexing.encoder import encoder
from indexing.encoder.encoder import Encoder
from indexing.errors import RagAppError
from indexing.models.files import encoder_weights
from indexing.store.repair.verification import verify
from indexing.store.store import Store

Content = dict[str, tuple[str, bytes]]
"""By the name of a file: the text of its document, and the bytes of its vectors."""


class Desk:
    """Files and corpora made of them by `rag-app index`, each run a fork of this process.

    Args:
        folder: For all of it.
    """

    def __init__(self, folder: Path) -> None:
        self.encoder = _loaded_encoder()
        self.files, self.start = folder / "files", folder / "start"
        self.files.mkdir()
        for number in range(12):
            self._write(number, f"Ana: Probe {number} fell.\nBob: Into lake {number}.")
        assert self.wait(self.index(self.start)) == 0
        self.before = content(self.start)
        for number in (3, 7, 10, 12, 13):
            self._write(number, f"Probe {number} was found again. " * 40)
        self.undisturbed = self.copy(folder / "undisturbed")
        began = time.monotonic()
        assert self.wait(self.index(self.undisturbed)) == 0
        self.seconds = time.monotonic() - began
        self.after = content(self.undisturbed)

    def _write(self, number: int, text: str) -> None:
        (self.files / f"{number:02}.txt").write_text(text)

    def copy(self, corpus: Path) -> Path:
        """The corpus as it was before its files changed, at another place."""
        return Path(shutil.copytree(self.start, corpus))

    def index(self, corpus: Path, *, file_size: int | None = None) -> int:
        """The id of a process that runs `rag-app index`; no file of it may grow larger."""
        process = os.fork()
        if process:
            return process
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        os._exit(run("index", str(self.files), "--corpus", str(corpus)))

    @staticmethod
    def wait(process: int) -> int:
        """The exit status, negative for a signal."""
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def kill(self, process: int, seconds: float) -> bool:
        """Kill a process after some time; whether it had not ended by itself."""
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
        return self.wait(process) == -signal.SIGKILL

    def complaint(self, corpus: Path) -> str | None:
        """What is wrong with a corpus in which each document is as it was or as it will be."""
        try:
            now = content(corpus)
        except RagAppError as error:
            return f"cannot be opened: {error}"
        lost = self.before.keys() - now.keys()
        wrong = [name for name, each in now.items() if each not in self._known(name)]
        return f"lost {sorted(lost)}, wrong {sorted(wrong)}" if lost or wrong else None

    def _known(self, name: str) -> list[tuple[str, bytes]]:
        return [state[name] for state in (self.before, self.after) if name in state]

    def end(self, corpus: Path) -> str | None:
        """What is wrong with a corpus after a run that nothing disturbs."""
        status = self.wait(self.index(corpus))
        if status != 0:
            return f"the run after it ended with {status}"
        return None if content(corpus) == self.after else "the run after it ends otherwise"


@cache
def _loaded_encoder() -> Encoder:
    """An encoder; those that forks make find their weights in memory and do not read them again."""
    import torch

    from rag_app.cli import main  # noqa: F401 - imported before the forks, with what it needs
    from rag_app.corpus import corpus  # noqa: F401

    torch.set_num_threads(1)  # threads do not survive a fork
    loaded, weights = encoder.Encoder(), encoder_weights()
    model = encoder.load_model(weights, loaded.settings)
    encoder.load_model = lambda weights, settings: model
    return loaded


def content(corpus: Path, *, verified: bool = True) -> Content:
    """Every document of a corpus, verified or as it is.

    Raises:
        RagAppError: It is not.
    """
    with closing(Store(corpus)) as store:
        if verified and (damages := verify(store.database)):
            raise RagAppError(str(damages[0]))
        rows = zip(store.entries(), store.vectors(), strict=True)
        return {
            Path(entry.path).name: (
                store.document(entry.id).text,
                whole.tobytes() + parts.tobytes(),
            )
            for entry, (_, whole, parts) in rows
        }


def run(*words: str) -> int:
    """`rag-app` with these words, in this process and in silence; its exit status."""
    from rag_app.cli.main import main

    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    try:
        main([*words], prog_name="rag-app")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BaseException:  # a traceback, to a person
        return 99
    finally:
        sys.stdout.flush()
    return 0
