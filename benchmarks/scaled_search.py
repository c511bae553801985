"""A search of a large synthetic corpus by this checkout and another, in turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import click
import numpy as np

from benchmarks.checkouts import running, with_checkouts
from benchmarks.index_scaling import VECTORS, build
from rag_app.laboratory.evaluation.table import grid

PROGRAM = """
import json, resource, sys, time
from indexing.models.runtime import let_blas_threads_sleep
let_blas_threads_sleep()  # as rag-app begins
from contextlib import closing
from dataclasses import replace
from pathlib import Path
import numpy as np
from benchmarks.index_scaling import INDEX, VECTORS, _queries, load
from benchmarks.shards import embedder
from benchmarks.synthetic_corpus import SyntheticCorpus
from indexing.store.store import Store
from retriever.fusion import RANKINGS
from retriever.query import Query
from retriever.retriever import Retriever
folder, passages, queries, ranking = Path(sys.argv[1]), *map(int, sys.argv[2:4]), sys.argv[4]
started = time.perf_counter()
with closing(Store(folder)) as store:
    snapshot = load(folder / INDEX)
    print(json.dumps(time.perf_counter() - started), flush=True)
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    sample = _queries(SyntheticCorpus.of(passages), vectors, queries)
    retriever = Retriever(store, snapshot, embedder(sample), RANKINGS[ranking])
    for line in sys.stdin:
        query = Query.of(sample[int(line)].text)
        read = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        seconds, cpu = time.perf_counter(), time.process_time()
        scores = retriever.score(query).documents
        took = [time.perf_counter() - seconds, time.process_time() - cpu]
        read = resource.getrusage(resource.RUSAGE_SELF).ru_majflt - read
        best = np.argsort(-scores, kind="stable")[:10]
        print(json.dumps([*took, read, best.tolist(), scores[best].tolist()]), flush=True)
"""
"""Numbers of queries in, one a line; what each took and found out. Any checkout can run it."""

WARM_UP = 3  # searches that are not counted


@dataclass(frozen=True, slots=True)
class Searched:
    """What one search took and found.

    Attributes:
        seconds: On the clock.
        cpu: Seconds of all cores.
        reads: Pages that had to be read from the disk.
        best: The ten best documents.
        scores: Theirs.
    """

    seconds: float
    cpu: float
    reads: int
    best: list[int]
    scores: list[float]


def measure(
    trees: Mapping[str, Path], folder: Path, passages: int, *, queries: int, ranking: str
) -> tuple[dict[str, float], dict[str, list[Searched]]]:
    """Seconds that each checkout takes to load the index, and what each search took there."""
    with ExitStack() as stack:
        words = (str(folder), str(passages), str(queries), ranking)
        programs = {n: stack.enter_context(running(t, PROGRAM, *words)) for n, t in trees.items()}
        loading = {name: float(_line(out)) for name, (_, out) in programs.items()}
        found: dict[str, list[Searched]] = {name: [] for name in trees}
        for number in (*range(min(WARM_UP, queries)), *range(queries)):
            for name in sorted(trees, reverse=bool(number % 2)):
                given, answered = programs[name]
                given.write(f"{number}\n")
                given.flush()
                found[name].append(Searched(*_line(answered)))
    return loading, {name: each[min(WARM_UP, queries) :] for name, each in found.items()}


def _line(answers: IO[str]) -> Any:  # noqa: ANN401 - JSON
    """What a program answers next.

    Raises:
        ClickException: It has ended; what it said of that went to standard error.
    """
    line = answers.readline()
    if not line:
        raise click.ClickException("a search has failed; the error above says why")
    return json.loads(line)


def text(loading: Mapping[str, float], found: Mapping[str, Sequence[Searched]]) -> str:
    """A Markdown table, and how far the checkouts agree."""
    rows = []
    for name, each in found.items():
        p50, p99 = np.percentile([one.seconds * 1000 for one in each], [50, 99])
        cpu = np.median([one.cpu * 1000 for one in each])
        reads = np.median([one.reads for one in each])
        row = [
            name,
            f"{loading[name]:.1f}",
            f"{p50:.1f}",
            f"{p99:.1f}",
            f"{cpu:.1f}",
            f"{reads:.0f}",
        ]
        rows.append(row)
    header = ["checkout", "load s", "p50 ms", "p99 ms", "CPU ms, median", "pages read, median"]
    lines = [grid(header, rows)]
    if "before" in found:
        pairs = list(zip(found["before"], found["now"], strict=True))
        shared = np.mean([len({*one.best} & {*two.best}) / len(one.best) for one, two in pairs])
        ratio = np.median([two.seconds / one.seconds for one, two in pairs])
        apart = max(abs(one.scores[0] - two.scores[0]) for one, two in pairs)
        lines.append(
            f"{ratio:.2f} of the time before (median); of the ten best documents {shared:.1%} are "
            f"the same; the best score is {apart:.3f} apart at most"
        )
    return "\n\n".join(lines)


@click.command
@click.option("--passages", type=click.IntRange(min=1000), default=100_000, show_default=True)
@click.option("--queries", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--ranking", default="default", show_default=True)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder in which the corpus is kept for another time.",
)
@with_checkouts
def command(
    passages: int, queries: int, ranking: str, keep: Path | None, checkouts: Mapping[str, Path]
) -> None:
    """Latency of searches of a synthetic corpus, beside another checkout, without encoding."""
    with TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        if not (folder / VECTORS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            build(passages, folder)
        click.echo(text(*measure(checkouts, folder, passages, queries=queries, ranking=ranking)))
