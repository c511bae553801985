"""`rag-app index` over a folder in which nothing has changed: what looking at each file takes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np

from benchmarks.checkouts import ROOT, Run, run_command, with_checkouts
from benchmarks.synthetic_corpus import word
from indexing.documents import Document
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.files import FileReader
from indexing.store.file_states import FileState
from indexing.store.store import Store
from indexing.text.chunking import split

WORDS = 40  # of a file
FOLDERS = 100
DRAWN = Fingerprint("drawn", "0", "none", 512, "mean", "float32", 384)


@click.command()
@click.option("--files", default=10_000, show_default=True, help="In a hundred folders.")
@click.option("--rounds", default=5, show_default=True, help="The best counts.")
@with_checkouts
def command(files: int, rounds: int, checkouts: Mapping[str, Path]) -> None:
    """Time and memory of `rag-app index` with nothing to do, each run a process of its own.

    The documents are read as `index` reads them; their vectors are drawn, because no run with
    nothing to do looks at one.
    """
    with TemporaryDirectory() as place:
        folder, corpus = Path(place).resolve() / "files", Path(place) / "corpus"
        write_files(folder, files)
        fill(corpus, folder)
        words = ("index", str(folder), "--corpus", str(corpus))
        run_command(ROOT, *words)  # builds the search indexes
        runs: dict[str, list[Run]] = {name: [] for name in checkouts}
        for _ in range(rounds):
            for name, tree in checkouts.items():
                runs[name].append(run_command(tree, *words))
        click.echo("| checkout | s | CPU s | MB |\n|---|---|---|---|")
        for name, each in runs.items():
            seconds, cpu = min(run.seconds for run in each), min(run.cpu for run in each)
            click.echo(
                f"| {name} | {seconds:.2f} | {cpu:.2f} | {max(run.megabytes for run in each):.0f} |"
            )


def write_files(folder: Path, count: int) -> None:
    """So many texts of a few different words each, in folders of equal size."""
    for number in range(count):
        file = folder / f"{number % FOLDERS:03}" / f"{number:06}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = " ".join(word(100 + number + 7 * place) for place in range(WORDS))
        file.write_text(f"{text}.\n", "utf-8")


def fill(corpus: Path, folder: Path) -> None:
    """A corpus that holds every file of a folder as it is, with drawn vectors."""
    draw = np.random.default_rng(0)
    with closing(Store(corpus, create=True)) as store, FileReader() as reader:
        store.set_fingerprint(DRAWN)
        for file in sorted(folder.rglob("*.txt")):
            (document,) = reader.read(file)
            assert isinstance(document, Document)
            passages = split(document)
            rows = draw.standard_normal((1 + len(passages), DRAWN.dimension), np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            vectors = EncodedDocument(rows[0], rows[1:], WORDS, WORDS)
            store.put(document, passages, vectors, added="2026-01-01T00:00:00+00:00")
            stat = file.stat()
            store.files.remember(document.path, FileState(stat.st_size, stat.st_mtime_ns))
