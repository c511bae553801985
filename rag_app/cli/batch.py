"""`rag-app batch`: a file of questions in, a file of answers and an HTML report out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_app.cli.option_types import AnyFile, RenamedOption
from rag_app.cli.options import (
    open_corpus,
    print_result,
    suited,
    with_corpus,
    with_generation,
    with_json,
    with_missing_shards,
    with_workers,
)
from rag_app.cli.request_options import with_fields
from rag_app.cli.terminal import count_noun, field, flow, notify, say

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings
    from rag_app.batch.refresh import Change
    from rag_app.batch.run import Step, Summary
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.shards.manifest import MissingShards

SOME_FAILED = 3
SOME_CHANGED = 4


@click.command()
@click.argument("questions", type=click.Path(path_type=Path, exists=True))
@with_corpus
@click.option(
    "--out", type=AnyFile, required=True, help="File of answers, one JSON object per line."
)
@with_generation
@click.option(
    "--workers", "at_once", type=click.IntRange(min=1),
    help="Questions answered in parallel.  [default: 1; with --ray two for each of its workers]",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(min=1), help="Ask at most this many questions in this run."
)
@click.option(
    "--retry-failed", is_flag=True,
    help="Ask questions again that failed, or were answered without a lost shard.",
)  # fmt: skip
@click.option(
    "--on-change", "changed", cls=RenamedOption, former="--changed",
    type=click.Choice(["stop", "keep", "ask"]), default="stop", show_default=True,
    help="What to do with answers that were made with other settings or documents.",
)  # fmt: skip
@click.option(
    "--refresh", is_flag=True,
    help="Look up all quotes again, ask what changed documents concern, and show what changed; "
    "exit status 4 if an answer did.",
)  # fmt: skip
@with_fields("batch", "ask")
@with_missing_shards
@with_workers
@click.option("--report", type=AnyFile, help="Also write all answers as one HTML page.")
@with_json
def batch(
    questions: Path,
    folder: Path,
    out: Path,
    generation: GeneratorSettings,
    at_once: int | None,
    limit: int | None,
    retry_failed: bool,
    changed: Any,  # noqa: ANN401
    refresh: bool,
    fields: Any,  # noqa: ANN401 - by name, as `AskOptions`
    missing_shards: MissingShards,
    workers: RayWorkers | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Answer every question in a file; each answer is saved as soon as it is made.

    QUESTIONS is a .txt file with one question per line, a .csv file with the columns question, id
    and document, a .jsonl file of objects with these fields, or QMSum's .json or .jsonl, whose
    queries are asked of their own meetings. Fields named as the options below, such as k and
    speaker, are of one question. If it is stopped or killed, the same command resumes.
    """
    from rag_app.batch import run
    from rag_app.batch.interrupt import stop_on_signal
    from rag_app.batch.options import BatchOptions
    from rag_app.batch.questions import read_questions

    if report:
        from rag_app.batch.report import refuse

        refuse(report, questions, out)
    queries = read_questions(questions)
    with (
        open_corpus(
            folder,
            generator=suited(generation, fields),
            workers=workers,
            missing_shards=missing_shards,
        ) as corpus,
        _bar() as advance,
        stop_on_signal() as stop,
    ):
        together = at_once or corpus.questions_at_once
        changed = "refresh" if refresh else changed
        options = BatchOptions(fields, together, limit, retry_failed, changed)
        summary = run.run(
            corpus, queries, out, options=options, progress=advance, notify=notify, stop=stop
        )
    if report:
        from rag_app.batch.answer_file import read_answers
        from rag_app.batch.report import write

        write(report, read_answers(out))
    print_result(as_json, summary.as_dict(), lambda: _say(summary, report))
    if summary.changes:
        run.told(out, queries)
    if stop():
        notify("stopped; run the same command again to resume")
        raise SystemExit(stop.status)
    if summary.failed:
        raise SystemExit(SOME_FAILED)
    if any(one.changed for one in summary.changes):
        raise SystemExit(SOME_CHANGED)


@contextmanager
def _bar() -> Iterator[Callable[[Step], None]]:
    """A bar on standard error that counts questions, with the time left."""
    from rag_app.progress import bar

    with bar("Asking") as advance:
        yield lambda step: advance(
            step.done,
            step.total,
            "quotes looked up again"
            if step.looking
            else f"{step.failed} failed" * bool(step.failed),
        )


def _say(summary: Summary, report: Path | None) -> None:
    counts = {
        "asked": summary.asked,
        "from earlier runs": summary.kept,
        "failed": summary.failed,
        "remaining": summary.left,
    }
    for change in summary.changes:
        _say_change(change)
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    pace = f" ({summary.per_hour:,.0f} an hour)" if summary.asked else ""
    say(f"{count_noun(summary.questions, 'question')}: {parts or 'nothing to do'}{pace}")
    abstentions = (
        f"; {summary.abstained:,} of them: the documents do not say" if summary.abstained else ""
    )
    say(f"{count_noun(summary.answered, 'answer')} in {summary.out}{abstentions}")
    if report:
        say(f"report: {report}")
    for failure in summary.failures[:10]:
        notify(f"rag-app: {field(failure.id)}: {field(failure.message, longest=1000)}")
    if len(summary.failures) > 10:
        notify(f"rag-app: and {len(summary.failures) - 10} more; see `error` in their lines")
    if summary.partial:
        notify(
            f"{count_noun(summary.partial, 'answer')} without the documents of a lost shard; see "
            "`context` in their lines"
        )
    if summary.failed or summary.partial:
        notify("retry them with --retry-failed")


def _say_change(change: Change) -> None:
    """A question that was asked again: why, what its answer was, and what it is now."""
    say(f"{'changed' if change.changed else 'same words'}: {field(change.question)}")
    if change.documents:
        say(f"  new or higher among the evidence: {field(', '.join(change.documents))}")
    _say_text("-", change.before)
    for one in change.before["citations"]:
        now = one["now"]
        there = f', now: "{flow(now["text"])}"' if now["standing"] == "altered" else ""
        say(f'  - {_place(one)}: "{flow(one["quote"])}" ({now["standing"]}{there})')
    _say_text("+", change.after)
    for one in change.added:
        say(f'  + {_place(one)}: "{flow(one["quote"])}"')


def _say_text(mark: str, answer: Mapping[str, Any]) -> None:
    """An answer that is more than its quotes, or why there is none."""
    if error := answer.get("error"):
        say(f"  {mark} failed: {field(error['message'], longest=1000)}")
    elif answer.get("mode") == "free" or answer.get("abstained") or not answer["citations"]:
        say(f"  {mark} {flow(answer['answer'] or '')}")


def _place(quote: Mapping[str, Any]) -> str:
    page = quote.get("place") or (f"page {quote['page']}" if quote["page"] is not None else "")
    parts = (quote["title"], quote.get("day"), quote["time"], quote["speaker"], page)
    return ", ".join(field(one) for one in parts if one)
