"""A transcript that gets a line a second under `rag-app watch`: how soon each line is found.

The watch is a process of its own. This one writes the lines, each with a word that no other has,
and searches for it as soon as the corpus has changed; every tenth line is told for a standing
question.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
import psutil

from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.evaluation.table import grid

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
SPEAKERS = ("Maren Osei", "Ines Duarte", "Tom Hale")
TOLD = 10  # every so many lines
PATIENCE = 120.0  # seconds after which a line counts as lost


@dataclass(frozen=True, slots=True)
class LiveReport:
    """What the lines of one transcript met.

    Attributes:
        words: Of the transcript before.
        lines: Written while it was watched.
        first: Seconds until it was indexed.
        found: Seconds from a line written to found: median, p95 and the most.
        late: Lines that took more than two seconds.
        lost: Lines that were not found at all.
        told: Seconds from a line written to told: median and the most.
        twice: Places that were told more than once, or that no line is.
        written: Megabytes that the watch gave the system to write, for each line.
        disk: Megabytes of the corpus in the end; what was merged stays for five minutes.
        cpu: CPU seconds of the watch for each line.
    """

    words: int
    lines: int
    first: float
    found: tuple[float, float, float]
    late: int
    lost: int
    told: tuple[float, float]
    twice: int
    written: float
    disk: float
    cpu: float


class _Watch:
    """`rag-app watch` in a process of its own, and when it printed what."""

    def __init__(self, folder: Path, corpus: Path) -> None:
        words = ["watch", str(folder), "--corpus", str(corpus), "--tell", "the budget", "--json"]
        command = [sys.executable, "-m", "rag_app", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.events: list[tuple[float, dict[str, object]]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append((time.monotonic(), json.loads(line)))

    def until(self, kind: str) -> None:
        while not any(event["kind"] == kind for _, event in self.events):
            if self.process.poll() is not None:
                raise SystemExit("the watch has ended")
            time.sleep(0.05)

    def told(self) -> list[tuple[float, str]]:
        """When which quotes were told."""
        return [
            (at, str(citation["quote"]))
            for at, event in self.events
            if isinstance(citation := event["citation"], dict)
        ]

    def used(self) -> tuple[int, float]:
        """Bytes written, and CPU seconds, so far."""
        process = psutil.Process(self.process.pid)
        spent = process.cpu_times()
        return process.io_counters().write_chars, spent.user + spent.system

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def line_of(seconds: int, words: list[str], draw: random.Random, *, mark: str = "") -> str:
    """A line of a transcript, of six to twenty words of the samples."""
    size = draw.randrange(6, 20)
    start = draw.randrange(len(words) - size)
    said = " ".join(words[start : start + size]).capitalize()
    stamp = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"[{stamp}] {draw.choice(SPEAKERS)}: {said}{mark}.\n"


def measure(before: int, lines: int, interval: float) -> LiveReport:
    """Watch a transcript of so many words grow by so many lines."""
    draw = random.Random(1)
    text = " ".join(path.read_text("utf-8") for path in sorted(SAMPLES.glob("*.txt")))
    words = [word for word in text.split() if word.isalpha() and word != "budget"]
    with tempfile.TemporaryDirectory() as work:
        folder, corpus = Path(work, "in"), Corpus(Path(work, "corpus"))
        folder.mkdir()
        written = ""
        while len(written.split()) < before:
            written += line_of(len(written) // 15, words, draw)
        (folder / "meeting.txt").write_text(written)
        began = time.monotonic()
        watch = _Watch(folder, corpus.folder)
        try:
            watch.until("added")
            first = time.monotonic() - began
            corpus.search("which line is it")  # the encoder is loaded
            start, cpu = watch.used()
            found: list[float | None] = []
            stamps = [
                _add_line(folder / "meeting.txt", number, words, draw, corpus, found, interval)
                for number in range(lines)
            ]
            end, spent = watch.used()
            time.sleep(3)
        finally:
            watch.end()
        disk = sum(one.stat().st_size for one in corpus.folder.rglob("*") if one.is_file())
    seconds = [each for each in found if each is not None]
    told = _told(watch.told(), stamps)
    return LiveReport(
        words=len(written.split()),
        lines=lines,
        first=first,
        found=(float(np.median(seconds)), float(np.percentile(seconds, 95)), max(seconds)),
        late=sum(each > 2 for each in seconds),
        lost=found.count(None),
        told=(float(np.median(told)), max(told)),
        twice=len(watch.told()) - len(told),
        written=(end - start) / 1e6 / lines,
        disk=disk / 1e6,
        cpu=(spent - cpu) / lines,
    )


def _add_line(
    path: Path,
    number: int,
    words: list[str],
    draw: random.Random,
    corpus: Corpus,
    found: list[float | None],
    interval: float,
) -> float:
    """Write a line, and search for it; when it was written. The next comes after an interval."""
    word = f"quillon{number}"
    mark = f" and {word}" + (" of the budget" if number % TOLD == 0 else "")
    before, seconds = corpus.revision, None
    with path.open("a") as file:
        file.write(line_of(7200 + number, words, draw, mark=mark))
    written = time.monotonic()
    while seconds is None and time.monotonic() < written + PATIENCE:
        if corpus.revision != before:  # committed, and soon indexed
            hits = corpus.search(word, k=1)
            if any(word in each.text for hit in hits for each in hit.passages):
                seconds = time.monotonic() - written
        time.sleep(0.01)
    found.append(seconds)
    time.sleep(max(0.0, written + interval - time.monotonic()))
    return written


def _told(told: list[tuple[float, str]], stamps: list[float]) -> list[float]:
    """Seconds after which each line on the budget was told, the first time."""
    first: dict[str, float] = {}
    for at, quote in told:
        first.setdefault(quote, at)
    return [
        at - stamps[number]
        for number in range(0, len(stamps), TOLD)
        for quote, at in first.items()
        if f"quillon{number} " in quote
    ]


@click.command()
@click.option("--words", default=9_500, show_default=True, help="Of the transcript before.")
@click.option("--lines", default=180, show_default=True, help="Written while it is watched.")
@click.option("--interval", default=1.0, show_default=True, help="Seconds between two lines.")
@with_json
def command(words: int, lines: int, interval: float, as_json: bool) -> None:
    """Watch a transcript grow by a line a second: how soon each is found and told."""
    report = measure(words, lines, interval)

    def show() -> None:
        rows = [
            ("words before", f"{report.words:,}"),
            ("lines", str(report.lines)),
            ("first index, s", f"{report.first:.1f}"),
            ("found, s: median / p95 / most", " / ".join(f"{each:.2f}" for each in report.found)),
            ("later than 2 s / lost", f"{report.late} / {report.lost}"),
            ("told, s: median / most", " / ".join(f"{each:.2f}" for each in report.told)),
            ("told twice or wrongly", str(report.twice)),
            ("written, MB a line", f"{report.written:.2f}"),
            ("corpus in the end, MB", f"{report.disk:.0f}"),
            ("CPU, s a line", f"{report.cpu:.2f}"),
        ]
        click.echo(grid(["", ""], rows))

    print_result(as_json, asdict(report), show)
