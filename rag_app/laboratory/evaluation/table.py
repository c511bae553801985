"""Methods by tasks in one run, as a section of a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension import METHODS
from indexing.extension.tuned import PREFIX as TUNED
from rag_app.laboratory.datasets.hub import HUB_TASKS
from rag_app.laboratory.datasets.synthetic import DOCUMENTS
from rag_app.laboratory.evaluation import evidence, longembed, published
from rag_app.laboratory.evaluation.evidence import EvidenceReport
from rag_app.laboratory.evaluation.longembed import GENERATED, TASKS, Method, Report, Source
from retriever.fusion import RANKINGS

DEFAULT_METHODS = (
    *("none:256/dense", "none:512/dense", "pcw/dense", "gp/dense", "rp/dense", "pi/dense"),
    *("pcw/bm25", "pcw/default"),
)
LONGEMBED_METHODS = ("pcw/bm25", "pcw/default")
DEFAULT_TASKS = ("qmsum", "evidence", "passkey", "needle")
EVIDENCE_COLUMNS = (
    "meeting nDCG@10",
    "corpus recall@2000",
    "corpus hit@2000",
    "meeting recall@2000",
)
BEGIN, END = "<!-- evaluate table: begin -->", "<!-- evaluate table: end -->"

_METHOD = re.compile(
    r"(?P<extension>(?P<name>[\w-]+)(\+entropy)?)(:(?P<length>\d+))?/(?P<ranking>\w+)"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One method on all tasks; a report is None where the method is not for this encoder."""

    method: str
    reports: dict[str, Report | EvidenceReport | None]

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        reports = {name: each.as_dict() if each else None for name, each in self.reports.items()}
        return {"method": self.method, "tasks": reports}


def parse(name: str, encoder: EncoderSettings) -> Method:
    """A method such as "pcw/default" or "ntk+entropy:1024/dense": extension, window and ranking.

    "tuned:FILE/dense" reads with positions that `rag-app tune` has written; the window is theirs.

    Raises:
        InvalidRequest: It is not of that form, or names something unknown.
    """
    extension, _, ranking = name.rpartition("/")
    if extension.startswith(TUNED) and extension != TUNED and ranking in RANKINGS:
        return Method(replace(encoder, extension=extension, max_length=None), ranking)
    match = _METHOD.fullmatch(name)
    if not match or match["name"] not in METHODS or match["ranking"] not in RANKINGS:
        raise InvalidRequest(
            f"no method {name!r}; write EXTENSION/RETRIEVER or EXTENSION:TOKENS/RETRIEVER, with "
            f"one of {', '.join(METHODS)}, {TUNED}FILE and one of {', '.join(RANKINGS)}"
        )
    length = int(match["length"]) if match["length"] else encoder.max_length
    settings = replace(encoder, extension=match["extension"], max_length=length)
    return Method(settings, match["ranking"])


def evaluate(
    methods: Sequence[str],
    tasks: Sequence[str],
    source: Source,
    *,
    encoder: EncoderSettings,
    notify: Callable[[str], None],
) -> list[Row]:
    """Measure every method on every task.

    Raises:
        InvalidRequest: An unknown method or task, or a task without its data.
    """
    parsed = {name: parse(name, encoder) for name in methods}
    for task in tasks:
        if task not in (*TASKS, "evidence"):
            raise InvalidRequest(f"no task {task!r}; there are: {', '.join(TASKS)}, evidence")
        if task in ("qmsum", "evidence") and source.data is None:
            raise InvalidRequest(f"{task} needs --data PATH: QMSum's .json or .jsonl")
    rows = []
    for name, method in parsed.items():
        reports: dict[str, Report | EvidenceReport | None] = {}
        for task in tasks:
            notify(f"measuring {name} on {task}")
            reports[task] = _measure(task, source, method, notify)
        rows.append(Row(name, reports))
    return rows


def _measure(
    task: str, source: Source, method: Method, notify: Callable[[str], None]
) -> Report | EvidenceReport | None:
    try:
        if task == "evidence":
            assert source.data is not None
            return evidence.evaluate(source.data, method, notify=notify)
        return longembed.evaluate(task, _source_of(task, source), method, notify=notify)
    except UnsupportedModel as error:
        notify(str(error))
        return None


def _source_of(task: str, source: Source) -> Source:
    """A task's own folder within the data, if there is one; else the hub has what is not QMSum's.

    `DATA/qmsum`, in either form, and for the others `DATA/narrativeqa` and so on, as on the hub.
    """
    own = source.data / HUB_TASKS.get(task, task) if source.data else None
    if own is not None and own.is_dir():
        return replace(source, data=own)
    return replace(source, data=None) if task in HUB_TASKS else source


def markdown(rows: Sequence[Row], command: str) -> str:
    """The tables of a run: all tasks, then every generated task by length. Scores are percent."""
    tasks = list(rows[0].reports) if rows else []
    parts = [f"`{command}`", _overview(rows, tasks)]
    parts += [_by_length(rows, task) for task in tasks if task in GENERATED]
    return "\n\n".join(parts)


def command_line(
    tasks: Sequence[str], methods: Sequence[str], source: Source, encoder: str | None
) -> str:
    """The command that makes a table, without folders of this machine."""
    words = ["rag-app evaluate table"]
    words += [f"--data {source.data.name}"] if source.data else []
    six = tuple(tasks) == published.LONGEMBED
    words += ["--longembed"] if six else [f"--task {task}" for task in tasks]
    usual = LONGEMBED_METHODS if six else DEFAULT_METHODS
    words += [f"--method {_shown(method)}" for method in methods if tuple(methods) != usual]
    if any(task in GENERATED for task in tasks):
        words.append(f"--lengths {','.join(map(str, source.lengths))}")
        words += [f"--documents {source.documents}"] if source.documents != DOCUMENTS else []
    return " ".join([*words, *([f"--encoder {Path(encoder).name}"] if encoder else [])])


def _shown(method: str) -> str:
    """A method, without the folder of a file of tuned positions."""
    file, slash, ranking = method.removeprefix(TUNED).rpartition("/")
    return f"{TUNED}{Path(file).name}{slash}{ranking}" if method.startswith(TUNED) else method


def write(path: Path, section: str) -> None:
    """Put a section between its marks in a file, or at its end; the rest of the file stays.

    Raises:
        InvalidRequest: The file cannot be read or written.
    """
    block = f"{BEGIN}\n{section}\n{END}"
    try:
        old = path.read_text("utf-8") if path.exists() else "# Benchmarks\n"
        before, mark, rest = old.partition(BEGIN)
        _, _, after = rest.partition(END)
        new = before + block + after if mark else f"{old.rstrip()}\n\n{block}\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new, "utf-8", newline="\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path}: cannot be written ({error}); name another file") from error


def _overview(rows: Sequence[Row], tasks: Sequence[str]) -> str:
    header = ["method"]
    for task in tasks:
        metric = "acc@1" if task in GENERATED else "nDCG@10"
        header += EVIDENCE_COLUMNS if task == "evidence" else [f"{task} {metric}"]
    body = [[row.method, *(c for t in tasks for c in _cells(t, row))] for row in rows]
    if sorted(tasks) != sorted(published.LONGEMBED):
        return grid(header, body)
    means = [[*cells, _mean(cells[1:])] for cells in body]
    return grid([*header, "mean"], [*means, *published.rows(tasks)]) + "\n\n" + published.NANO


def _mean(cells: Sequence[str]) -> str:
    return "-" if "-" in cells else f"{fmean(float(cell) for cell in cells):.1f}"


def _cells(task: str, row: Row) -> list[str]:
    report = row.reports[task]
    if isinstance(report, EvidenceReport):
        over, within = report.corpus[2000], report.document[2000]
        values = [report.meetings.ndcg_at_10, over.recall, over.hit, within.recall]
        return [_percent(value) for value in values]
    if report is None:
        return ["-"] * (len(EVIDENCE_COLUMNS) if task == "evidence" else 1)
    total = report.total
    return [_percent(total.acc_at_1 if task in GENERATED else total.ndcg_at_10)]


def _by_length(rows: Sequence[Row], task: str) -> str:
    reports = {row.method: row.reports[task] for row in rows}
    known = {name: report for name, report in reports.items() if isinstance(report, Report)}
    lengths = list(next(iter(known.values())).parts) if known else []
    body = [
        [name, *(_percent(report.parts[length].acc_at_1) for length in lengths)]
        for name, report in known.items()
    ]
    return grid([f"{task} acc@1 by length", *lengths], body)


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with columns of even width."""
    widths = [max(len(line[at]) for line in (header, *rows)) for at in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in (header, rule, *rows)
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
