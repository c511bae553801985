"""An hour of twelve users: what the server holds, how long they wait, and that nothing is lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from benchmarks.soak import plot
from benchmarks.soak.model import ModelProcess
from benchmarks.soak.server import Sample, Server
from benchmarks.soak.tab import Tab
from benchmarks.soak.users import Action, Material, User, credentials
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib
from rag_app.progress import bar

CHECKPOINT = 30  # samples
SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done.

    Attributes:
        seconds: How long.
        users: How many.
        think: Mean seconds between two actions of a user.
        restarts: Seconds at which the server is restarted; every second time it is killed.
        interval: Seconds between two samples.
        seed: Of what the users do.
        word: Characters of the one word that somebody else uploads at the beginning; 0 for none.
        logins: Whether users log in, each with a collection of their own.
        model: Whether answers are generated too, by a server that is killed and comes back.
    """

    seconds: float
    users: int
    think: float
    restarts: tuple[float, ...]
    interval: float = 10.0
    seed: int = 0
    word: int = 0
    logins: bool = False
    model: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """What was measured.

    Attributes:
        plan: What was done.
        samples: What the server held.
        actions: What users did.
        restarts: Seconds at which the server was stopped.
        failures: What went wrong that no restart explains.
        model_kills: How often the server of the model was killed.
    """

    plan: Plan
    samples: tuple[Sample, ...]
    actions: tuple[Action, ...]
    restarts: tuple[float, ...]
    failures: tuple[str, ...]
    model_kills: int = 0

    def life(self) -> list[Sample]:
        """What the server held between the two restarts that are farthest from each other."""
        ends = [0.0, *self.restarts, max(self.plan.seconds, self.samples[-1].at + 1)]
        start, end = max(pairwise(ends), key=lambda life: life[1] - life[0])
        return [each for each in self.samples if start <= each.at < end]


def material() -> Material:
    """The questions and words of the samples."""
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    words = (SAMPLES / "the-ferry-book.txt").read_text(encoding="utf-8").split()
    return Material(tuple(json.loads(line)["question"] for line in lines), tuple(words))


def documents() -> list[Path]:
    """The samples that are no questions."""
    return [each for each in sorted(SAMPLES.iterdir()) if each.suffix != ".jsonl"]


def soak(
    folder: Path,
    plan: Plan,
    files: Sequence[Path],
    checkpoint: Callable[[Course], None] = lambda _: None,
) -> Course:
    """Serve some files to users for a while, and look at what is there in the end.

    Args:
        folder: For the corpus, and what the server says.
        plan: What is done.
        files: What is indexed before.
        checkpoint: Called with what was measured until then, from time to time.
    """
    with Corpus(folder / "corpus") as corpus:
        corpus.add(files)
    model = ModelProcess() if plan.model else None
    options = _options(folder, plan, model)
    server, over = Server(folder / "corpus", folder / "server.log", options), threading.Event()
    server.start()
    said = material()
    users = [
        User(n, server, said, over, plan.think, plan.seed, model=model, has_login=plan.logins)
        for n in range(plan.users)
    ]
    for user in users:
        user.start()
    word = [upload_word(server, plan.word)] if plan.word else []
    samples, restarts = list[Sample](), list[float]()

    def course(lost: Sequence[str] = ()) -> Course:
        actions = sorted([*word, *chain(*(user.actions[:] for user in users))], key=_start)
        failed = [f"{each.kind}: {each.note}" for each in actions if each.outcome == "failed"]
        failures, kills = (*failed, *server.complaints(), *lost), model.kills if model else 0
        return Course(plan, tuple(samples), tuple(actions), tuple(restarts), failures, kills)

    try:
        _watch(server, plan, model, samples, restarts, lambda: checkpoint(course()))
    finally:
        over.set()
        server.stop()  # which ends what users still wait for
        for user in users:
            user.join()
        server.start()
        for login in [credentials(n) for n in range(plan.users)] if plan.logins else [None]:
            with closing(Tab(server.address, login=login)) as tab:
                tab.watch()
        server.stop()
        if model is not None:
            model.end()
    return course(lost(folder / "corpus", users))


def _start(action: Action) -> float:
    return action.at


def _options(folder: Path, plan: Plan, model: ModelProcess | None) -> list[str]:
    """The options of the server: its model, and a file of logins."""
    options = [] if model is None else ["--generator", model.name]
    if plan.logins:
        logins, people = folder / "logins", map(credentials, range(plan.users))
        logins.write_text("".join(f"{user}:{word}\n" for user, word in people))
        hashing = [sys.executable, "-m", "rag_app", "passwd", str(logins), "--hash"]
        subprocess.run(hashing, check=True, capture_output=True)
        options += ["--auth-file", str(logins)]
    return options


def upload_word(server: Server, characters: int) -> Action:
    """Upload a file of one long word."""
    began = time.monotonic()
    with closing(Tab(server.address)) as tab:
        sent = tab.http.post("/files", content=b"a" * characters, headers={"x-name": "word.txt"})
        sent.raise_for_status()
    return Action(0, "upload of a word", round(time.monotonic() - began, 2))


def _watch(
    server: Server,
    plan: Plan,
    model: ModelProcess | None,
    samples: list[Sample],
    restarts: list[float],
    checkpoint: Callable[[], None],
) -> None:
    """Take samples, restart the server at its times, and kill its model ten times."""
    began, due = time.monotonic(), list(plan.restarts)
    with bar("minutes") as advance:
        while (at := time.monotonic() - began) < plan.seconds:
            if due and at > due[0]:
                del due[0]
                restarts.append(round(at, 1))
                server.stop(kill=len(restarts) % 2 == 0)
                server.start()
            if model is not None:
                model.follow(at / plan.seconds)
            samples.append(server.sample(time.monotonic() - began))
            if len(samples) % CHECKPOINT == 0:
                checkpoint()
            advance(round(at / 60, 1), round(plan.seconds / 60, 1), "")
            time.sleep(plan.interval)


def lost(folder: Path, users: Sequence[User]) -> list[str]:
    """Uploads that the server accepted and that are not there, and removals that did not last."""
    with Corpus(folder) as corpus:
        names = {Path(each.path).name for each in corpus.documents()}
        collections = {each.name for each in corpus.collections.all()}
        damages = [str(each) for each in corpus.verify().damages]
    lost = [f"{name} is lost" for user in users for name in user.kept if name not in names]
    back = [f"{name} is back" for user in users for name in user.removed if name in names]
    made = {user.collection for user in users if user.has_collection}
    gone = [f"the collection {name} is lost" for name in sorted(made - collections)]
    return [*lost, *back, *gone, *damages]


def report(course: Course) -> Json:
    """The figures."""
    times: dict[str, list[float]] = defaultdict(list)
    for each in course.actions:
        if each.outcome == "done":
            times[each.kind].append(each.seconds)
    outcomes = Counter(each.outcome for each in course.actions)
    memory = [each.memory for each in course.samples]
    return {
        "plan": asdict(course.plan),
        "restarts": len(course.restarts),
        "model kills": course.model_kills,
        "actions": dict(outcomes),
        "failures": list(course.failures),
        "memory MB": {"median": _median(memory), "max": max(memory), "last": memory[-1]},
        "memory MB of the longest life": _quarters(course.life()),
        "reader MB": max(each.reader for each in course.samples),
        "handles": _range([each.handles for each in course.samples]),
        "SQLite handles": _range([each.sqlite for each in course.samples]),
        "threads": _range([each.threads for each in course.samples]),
        "seconds": {kind: _percentiles(each) for kind, each in sorted(times.items())},
    }


def _quarters(life: Sequence[Sample]) -> Json:
    """The memory of each quarter of the time that a server ran, and the last by the first."""
    start, seconds = life[0].at, max(life[-1].at - life[0].at, 1.0)
    quarters: list[list[float]] = [[], [], [], []]
    for each in life:
        quarters[min(int(4 * (each.at - start) / seconds), 3)].append(each.memory)
    medians = [_median(each or [0.0]) for each in quarters]
    return {
        "minutes": [round(each / 60, 1) for each in (start, start + seconds)],
        "median by quarter": medians,
        "max by quarter": [max(each, default=0.0) for each in quarters],
        "last by first": round(medians[3] / medians[0], 3) if medians[0] else None,
    }


def _median(values: Sequence[float]) -> float:
    return round(float(np.median(values)), 1)


def _range(values: Sequence[int]) -> Json:
    return {"median": _median(values), "max": max(values), "last": values[-1]}


def _percentiles(seconds: Sequence[float]) -> Json:
    p50, p95, slowest = (round(float(np.percentile(seconds, p)), 2) for p in (50, 95, 100))
    return {"n": len(seconds), "p50": p50, "p95": p95, "max": slowest}


def picture(course: Course) -> str:
    """The course as SVG."""

    def curve(name: str, field: str) -> plot.Series:
        points = [(each.at / 60, float(getattr(each, field))) for each in course.samples]
        return plot.Series(name, points)

    kinds: dict[str, list[plot.Point]] = defaultdict(list)
    for each in course.actions:
        if each.outcome == "done":
            kinds[each.kind].append((each.at / 60, each.seconds))
    panels = [
        plot.Panel("Memory, MB", [curve("server", "memory"), curve("reader of files", "reader")]),
        plot.Panel(
            "Open handles and threads",
            [
                curve("all handles", "handles"),
                curve("SQLite", "sqlite"),
                curve("threads", "threads"),
            ],
        ),
        plot.Panel(
            "Seconds that users waited (logarithmic)",
            [plot.Series(kind, points, joined=False) for kind, points in sorted(kinds.items())],
            logarithmic=True,
        ),
    ]
    restarts = [each / 60 for each in course.restarts]
    return plot.draw(panels, minutes=course.plan.seconds / 60, marks=restarts)


def save(course: Course, out: Path) -> None:
    """Write `soak.json` and `soak.svg`."""
    out.mkdir(parents=True, exist_ok=True)
    fields = list(asdict(course.samples[0]))
    rows = [list(asdict(each).values()) for each in course.samples]
    values = {**report(course), "restarts at": course.restarts, "samples": [fields, *rows]}
    text = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", _one_line, json.dumps(values, indent=1))
    (out / "soak.json").write_text(text + "\n", encoding="utf-8")
    (out / "soak.svg").write_text(picture(course), encoding="utf-8")


def _one_line(found: re.Match[str]) -> str:
    return f"[{' '.join(found[1].split())}]"


@click.command
@click.option("--minutes", type=click.FloatRange(min=0.1), default=65, show_default=True)
@click.option("--users", type=click.IntRange(min=0), default=12, show_default=True)
@click.option(
    "--think", type=float, default=30, show_default=True, help="Mean seconds between two actions."
)
@click.option(
    "--restart-at",
    type=float,
    multiple=True,
    default=(5, 10, 60),
    show_default=True,
    help="Minute of a restart of the server; every second one kills it.",
)
@click.option(
    "--word-mb", type=float, default=0.0, show_default=True, help="Upload one word of that size."
)
@click.option("--logins", is_flag=True, help="Users log in; each has a collection.")
@click.option("--model", is_flag=True, help="Generated answers too, by a server that is killed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for soak.json and soak.svg.")
@with_json
def command(
    minutes: float,
    users: int,
    think: float,
    restart_at: tuple[float, ...],
    word_mb: float,
    logins: bool,
    model: bool,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Let users ask, search, upload and remove while a server is restarted at some minutes."""
    if out is not None:
        require_matplotlib()
    plan = Plan(
        60 * minutes,
        users,
        think,
        tuple(60 * each for each in sorted(restart_at)),
        interval=min(10, 60 * minutes / 200),
        seed=seed,
        word=int(1e6 * word_mb),
        logins=logins,
        model=model,
    )
    with TemporaryDirectory() as folder:
        course = soak(
            Path(folder), plan, documents(), (lambda now: save(now, out)) if out else lambda _: None
        )
    if out is not None:
        save(course, out)
    figures = report(course)
    lines = (f"{name:16} {json.dumps(value)}" for name, value in figures.items())
    print_result(as_json, figures, lambda: click.echo("\n".join(lines)))
    if course.failures:
        raise SystemExit(1)
