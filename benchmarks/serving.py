"""Many people at one server: how long each waits, who waits for whom, and what it holds after."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import click
import numpy as np
import psutil

from benchmarks.checkouts import ROOT, SAMPLES, run_command, sample_files, served, with_checkouts
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

QUESTIONS = SAMPLES / "questions.jsonl"
CROWD, OTHERS = 16, 8  # questions of one person, and people who ask one each behind them
LATER = 0.5  # seconds after the crowd's questions, when the others ask
QUIET = 12  # seconds after the last answer, when memory is looked at: a pause is over then
_INTERVAL = 0.1  # seconds between looks at memory meanwhile


@dataclass(frozen=True, slots=True)
class Round:
    """Questions asked of a server in one way.

    Attributes:
        seconds: Until the last answer.
        cpu: Seconds of all cores, of the server.
        median: Seconds that one person waits.
        p95: What 95 of 100 people wait at most.
        longest: What the last one waits.
        megabytes: Most memory meanwhile.
    """

    seconds: float
    cpu: float
    median: float
    p95: float
    longest: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Fairness:
    """One person asks a crowd of questions, then others ask one each.

    Attributes:
        alone: Median seconds of a question when nobody else asks.
        others: Median seconds that the others wait.
        crowd: Seconds until the last of the crowd is answered.
    """

    alone: float
    others: float
    crowd: float


@dataclass(frozen=True, slots=True)
class Serving:
    """What one checkout does.

    Attributes:
        one_by_one: The questions one after another, of each round.
        at_once: The same at once, of each round.
        fairness: Of one person beside others.
        megabytes: Memory: when it listens, after the first answer, at the end; and of that at the
            end what is its own, not mapped from files.
    """

    one_by_one: list[Round]
    at_once: list[Round]
    fairness: Fairness
    megabytes: Mapping[str, float]


@dataclass
class Server:
    """`rag-app serve` of a checkout, over a corpus.

    Attributes:
        address: Where it listens.
        process: Of it.
        megabytes: Memory by moment.
    """

    address: str
    process: psutil.Process
    megabytes: dict[str, float] = field(default_factory=dict)

    def ask(self, question: str, who: str) -> float:
        """Seconds until the answer to somebody's question."""
        started = perf_counter()
        messages = [{"role": "user", "content": question}]
        body = {"model": "rag-app-quote", "messages": messages, "user": who}
        request = urllib.request.Request(
            f"{self.address}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            response.read()
        return perf_counter() - started

    def note(self, moment: str) -> None:
        """Memory now."""
        self.megabytes[moment] = round(self.process.memory_info().rss / 1e6)

    @property
    def cpu(self) -> float:
        """Seconds of all cores so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system)


@click.command()
@click.option("--people", default=40, show_default=True, help="Who ask a question each, at once.")
@click.option("--rounds", default=3, show_default=True, help="Of both ways, in turn.")
@click.option("--at-once-only", is_flag=True, help="Without asking one after another.")
@with_checkouts
@with_json
def command(
    people: int, rounds: int, at_once_only: bool, checkouts: Mapping[str, Path], as_json: bool
) -> None:
    """How long people wait for quotes when many ask at once, and what the server holds after.

    The sample documents and their questions, over the HTTP API. All are asked once before what
    is counted, so that what is kept from question to question is there.
    """
    questions = sample_questions(people)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        corpus = str(Path(folder) / "corpus")
        run_command(ROOT, "index", *map(str, sample_files()), "--corpus", corpus)
        servers = dict[str, Server]()
        for name, tree in checkouts.items():
            servers[name] = Server(*stack.enter_context(served(tree, corpus)))
            servers[name].note("listens")
        ways = ("at once",) if at_once_only else ("one by one", "at once")
        reports = measure(servers, questions, rounds, ways)
    print_result(
        as_json,
        {name: asdict(each) for name, each in reports.items()},
        lambda: click.echo(text(reports)),
    )


def sample_questions(count: int) -> list[str]:
    """So many of the sample questions; from the first again where there are fewer."""
    lines = QUESTIONS.read_text("utf-8").splitlines()
    every = [str(json.loads(line)["question"]) for line in lines]
    return [every[i % len(every)] for i in range(count)]


def measure(
    servers: Mapping[str, Server], questions: Sequence[str], rounds: int, ways: Sequence[str]
) -> dict[str, Serving]:
    """Ask every server in turn, in some ways."""
    for server in servers.values():
        server.ask(questions[0], "first")
        server.note("first answer")
    ask = {"one by one": one_by_one, "at once": at_once}
    found: dict[tuple[str, str], list[Round]] = {}
    plan = [(way, name) for _ in range(1 + rounds) for way in ways for name in servers]
    with track(plan, doing="Asking") as steps:
        for way, name in steps:
            found.setdefault((way, name), []).append(ask[way](servers[name], questions))
    reports = {}
    for name, server in servers.items():
        fairness = beside_a_crowd(server, questions)
        sleep(QUIET)
        server.note("end")
        server.megabytes["own"] = round(server.process.memory_full_info().uss / 1e6)
        reports[name] = Serving(
            one_by_one=found.get(("one by one", name), [])[1:],
            at_once=found["at once", name][1:],
            fairness=fairness,
            megabytes=server.megabytes,
        )
    return reports


def one_by_one(server: Server, questions: Sequence[str]) -> Round:
    """Each question when the one before is answered."""
    return _round(
        server, lambda: [server.ask(each, f"person {i}") for i, each in enumerate(questions)]
    )


def at_once(server: Server, questions: Sequence[str]) -> Round:
    """All questions together, each of another person."""
    people = [f"person {i}" for i in range(len(questions))]

    def work() -> list[float]:
        with ThreadPoolExecutor(len(questions)) as threads:
            return list(threads.map(server.ask, questions, people))

    return _round(server, work)


def _round(server: Server, work: Callable[[], list[float]]) -> Round:
    cpu, started = server.cpu, perf_counter()
    with _peak(server) as peak:
        waits = work()
    seconds = perf_counter() - started
    median, p95 = np.percentile(waits, [50, 95])
    return Round(
        round(seconds, 2),
        round(server.cpu - cpu, 2),
        round(float(median), 2),
        round(float(p95), 2),
        round(max(waits), 2),
        max(peak),
    )


@contextmanager
def _peak(server: Server) -> Iterator[list[float]]:
    """Megabytes of a server inside the block, looked at ten times a second."""
    seen, stop = [server.process.memory_info().rss / 1e6], threading.Event()

    def watch() -> None:
        while not stop.wait(_INTERVAL):
            seen.append(round(server.process.memory_info().rss / 1e6))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def beside_a_crowd(server: Server, questions: Sequence[str]) -> Fairness:
    """One person asks CROWD questions at once; OTHERS ask one each, a little later."""
    every = [*questions] * (1 + (CROWD + OTHERS) // len(questions))
    alone = [server.ask(each, "alone") for each in every[:OTHERS]]
    with ThreadPoolExecutor(CROWD + OTHERS) as threads:
        crowd = [threads.submit(server.ask, each, "crowd") for each in every[:CROWD]]
        sleep(LATER)
        behind = every[CROWD : CROWD + OTHERS]
        others = [threads.submit(server.ask, each, f"other {i}") for i, each in enumerate(behind)]
        waits = [each.result() for each in others]
        last = max(each.result() for each in crowd)
    return Fairness(
        round(float(np.median(alone)), 2), round(float(np.median(waits)), 2), round(last, 2)
    )


def text(reports: Mapping[str, Serving]) -> str:
    """Markdown tables: waits, fairness, memory; of the rounds, the median."""
    waits = [
        [
            name,
            way,
            *(
                f"{float(np.median([getattr(each, of) for each in rounds])):.{digits}f}"
                for of, digits in (
                    ("seconds", 1),
                    ("median", 1),
                    ("p95", 1),
                    ("longest", 1),
                    ("cpu", 1),
                    ("megabytes", 0),
                )
            ),
        ]
        for name, report in reports.items()
        for way, rounds in (("one by one", report.one_by_one), ("at once", report.at_once))
        if rounds
    ]
    fairness = [
        [
            name,
            f"{report.fairness.alone:.2f}",
            f"{report.fairness.others:.2f}",
            f"{report.fairness.crowd:.1f}",
        ]
        for name, report in reports.items()
    ]
    moments = ("listens", "first answer", "end", "own")
    memory = [
        [name, *(f"{report.megabytes[each]:.0f}" for each in moments)]
        for name, report in reports.items()
    ]
    return "\n\n".join(
        (
            grid(
                [
                    "checkout",
                    "asked",
                    "all, s",
                    "median, s",
                    "p95, s",
                    "longest, s",
                    "CPU s",
                    "MB at most",
                ],
                waits,
            ),
            grid(
                [
                    "checkout",
                    "alone, s",
                    f"{OTHERS} others behind {CROWD} of one person, median s",
                    "the one's last, s",
                ],
                fairness,
            ),
            grid(["checkout", "MB: it listens", "first answer", "end", "its own of that"], memory),
        )
    )
