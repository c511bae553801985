"""Commands: parse, call, print. Nothing heavy is imported before a command needs it.

Exit status: 0 done; 1 refused or failed, the reason on standard error; 2 wrong usage; 3 done, but
some files could not be read or some questions not answered (each is named); 70 a defect, with
details in a log file that is named; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from indexing.models.runtime import let_blas_threads_sleep
from rag_app.cli import settings, terminal
from rag_app.cli.last_resort import check_working_folder, last_resort
from rag_app.cli.option_types import AnyFile, AnyPath
from rag_app.cli.options import (
    open_corpus,
    print_result,
    with_collection,
    with_corpus,
    with_encoder,
    with_file_limits,
    with_json,
    with_missing_shards,
    with_ocr,
    with_synchronous,
    with_wait,
    with_workers,
    with_yes,
)
from rag_app.cli.request_options import LIMITS_OF_LISTS, Fields, with_fields
from rag_app.request_fields import limits_of

if TYPE_CHECKING:
    from indexing.encoder.settings import EncoderSettings
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from indexing.store.database import Synchronous
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.shards.manifest import MissingShards

NOTHING_DONE = 1
SOME_FILES_FAILED = 3


# Commands that live in a file of their own, and where.
ELSEWHERE = {
    "ask": "rag_app.cli.ask",
    "overview": "rag_app.cli.documents.overview",
    "every": "rag_app.cli.documents.every",
    "register": "rag_app.cli.documents.register",
    "similar": "rag_app.cli.documents.similar",
    "batch": "rag_app.cli.batch",
    "serve": "rag_app.cli.serve",
    "passwd": "rag_app.cli.maintenance.passwd",
    "watch": "rag_app.cli.documents.watch",
    "evaluate": "rag_app.laboratory.commands.evaluate",
    "calibrate": "rag_app.laboratory.commands.calibrate",
    "tune": "rag_app.laboratory.commands.tune",
    "collections": "rag_app.cli.documents.collections",
    "ratings": "rag_app.cli.ratings",
    "models": "rag_app.cli.models",
    "aliases": "rag_app.cli.documents.aliases",
    "speakers": "rag_app.cli.documents.speakers",
    "cluster": "rag_app.cli.maintenance.cluster",
    "check": "rag_app.cli.maintenance.check",
    "verify": "rag_app.cli.maintenance.verify",
    "backup": "rag_app.cli.maintenance.backup",
    "restore": "rag_app.cli.maintenance.backup",
    "optimize": "rag_app.cli.maintenance.optimize",
    "export": "rag_app.cli.maintenance.exchange",
    "import": "rag_app.cli.maintenance.exchange",
}


class Commands(click.Group):
    """Commands that report errors of ours in one line, and are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The order in which people need them."""
        first = ["index", "search", "ask", "list", "show", "every", "overview", "register"]
        first += ["similar", "remove", "collections", "speakers", "aliases", "info"]
        return [*first, *(name for name in ELSEWHERE if name not in first)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by name; its options listen to environment variables."""
        command: click.Command | None
        if cmd_name in ELSEWHERE:
            module = import_module(ELSEWHERE[cmd_name])
            command = getattr(module, f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name)
        else:
            command = super().get_command(ctx, cmd_name)
        for below in settings.leaves(command, ctx).values() if command else ():
            settings.listen(below)
        return command

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command line; whatever happens, it ends with one line and an exit status."""
        terminal.be_lenient()
        with last_resort():
            return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:  # noqa: ANN401
        """Read the command line; Ctrl-C meanwhile is status 130 as later on."""
        with last_resort():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command; an error of ours becomes one line and exit status 1, Ctrl-C 130."""
        let_blas_threads_sleep()
        with last_resort():
            check_working_folder()
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rag-app")
@click.option(
    "--config", type=AnyFile, envvar="RAG_APP_CONFIG",
    help="Settings file.  [default: rag-app.toml in the current folder, if there is one]",
)  # fmt: skip
@click.pass_context
def main(context: click.Context, config: Path | None) -> None:
    """Ask questions of long documents, offline, with citations you can check."""
    file = settings.find(config)
    if file is not None:
        commands = settings.leaves(main, context)
        context.default_map = settings.default_map(file, commands, named=config is not None)
        context.obj = file


@main.command()
@click.argument("paths", nargs=-1, type=AnyPath)
@with_corpus
@with_collection
@with_encoder
@click.option("--reencode", is_flag=True, help="Encode every document again with these settings.")
@click.option(
    "--recheck", is_flag=True,
    help="Read every file again: an edit may have kept its size and time.",
)  # fmt: skip
@with_ocr
@with_file_limits
@with_synchronous
@with_wait
@with_workers
@with_json
def index(
    paths: tuple[Path, ...],
    folder: Path,
    collection: str,
    encoder: EncoderSettings | None,
    reencode: bool,
    recheck: bool,
    ocr: OcrSettings,
    limits: FileLimits,
    synchronous: Synchronous,
    wait: float,
    workers: RayWorkers | None,
    as_json: bool,
) -> None:
    """Add or update files and folders; unchanged ones are skipped.

    Reads txt, md, pdf, docx, odt, rtf, html, epub, pptx, xlsx, csv, tsv, eml, msg, vtt, srt, eaf,
    json, jsonl and xml of transcripts; by OCR png, jpg and tif that are named, and those in folders
    where --ocr names an engine.
    """
    from rag_app.cli import printing

    if bool(paths) == reencode:
        raise InvalidRequest("name the files or folders to index, or --reencode, but not both")
    options = {"limits": limits, "ocr": ocr, "synchronous": synchronous, "wait": wait}
    with open_corpus(folder, encoder=encoder, workers=workers, **options) as corpus:
        if reencode:
            with printing.index_progress("Encoding") as advance:
                done = corpus.reencode(progress=advance)
            message = f"{terminal.count_noun(done, 'document')} encoded"
            print_result(as_json, {"reencoded": done}, lambda: terminal.say(message))
            return
        with printing.index_progress("Indexing") as advance:
            report = corpus.add(paths, progress=advance, recheck=recheck, collection=collection)
        exists = corpus.exists
        if report.tokens:
            corpus.prepare()
    print_result(as_json, asdict(report), lambda: printing.report(report))
    if report.failures:
        for failure in report.failures:
            terminal.say(f"rag-app: {terminal.field(str(failure), longest=2000)}", error=True)
        raise SystemExit(SOME_FILES_FAILED if exists else NOTHING_DONE)


@main.command()
@click.argument("query")
@with_fields("command", "search")
@click.option("--explain", is_flag=True, help="Show what each feature adds to the scores.")
@with_missing_shards
@with_corpus
@with_json
def search(
    query: str,
    explain: bool,
    fields: Fields,
    missing_shards: MissingShards,
    folder: Path,
    as_json: bool,
) -> None:
    """Find documents for a query, best first, each with its best passages."""
    from rag_app.cli import json_output as shapes
    from rag_app.cli import printing

    where = limits_of(fields)
    with open_corpus(folder, quick_start=True, missing_shards=missing_shards) as corpus:
        results = corpus.partial_search(query, **fields)
        nothing = "" if results.hits else corpus.nothing_matches(where)
    print_result(
        as_json,
        [*shapes.hits(results.hits, explain=explain), *shapes.missing(results.missing)],
        lambda: printing.partial_hits(results, explain, nothing),
    )


@main.command("list")
@with_corpus
@with_fields("command", "search", *LIMITS_OF_LISTS)
@with_json
def list_(folder: Path, fields: Fields, as_json: bool) -> None:
    """List the documents of a corpus."""
    from rag_app.cli import printing

    where = limits_of(fields)
    with open_corpus(folder) as corpus:
        documents = corpus.documents(where=where)
    print_result(as_json, [asdict(one) for one in documents], lambda: printing.entries(documents))


@main.command()
@click.argument("name")
@click.option(
    "--start", type=click.IntRange(min=0), default=0, help="Offset of the first character."
)
@click.option("--end", type=click.IntRange(min=0), help="Offset after the last character.")
@with_corpus
@with_json
def show(name: str, start: int, end: int | None, folder: Path, as_json: bool) -> None:
    """Print the extracted text of a document (by id, path or title) that citations point into."""
    from rag_app.cli import json_output as shapes

    if end is not None and end < start:
        raise InvalidRequest(f"--end {end} is before --start {start}; give a later --end")
    with open_corpus(folder) as corpus:
        document = corpus.document(name)
    if start and start >= len(document.text):
        raise InvalidRequest(
            f"{document.title}: has {len(document.text):,} characters; give an earlier --start"
        )
    text = document.text[start:end]
    values = {**shapes.document(document), "text": text}
    print_result(as_json, values, lambda: terminal.say_text(text))


@main.command()
@click.argument("names", nargs=-1)
@click.option("--missing", is_flag=True, help="Remove documents whose file no longer exists.")
@with_corpus
@click.option(
    "--collection", metavar="NAME", help="Only from this collection; others keep what they hold."
)
@with_yes
@with_json
def remove(
    names: tuple[str, ...],
    missing: bool,
    folder: Path,
    collection: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove documents by id, file, folder or title. Your own files are never touched."""
    from indexing.filter import Filter
    from rag_app.cli.documents.collections import confirm_removal

    if bool(names) == missing:
        raise InvalidRequest("name the documents to remove, or --missing, but not both")
    where = Filter(collections=(collection,) if collection else ())
    with open_corpus(folder) as corpus:
        targets = [one.id for one in corpus.missing(where=where)] if missing else list(names)
        if collection is None and not yes:
            confirm_removal(corpus, targets)
        removed = corpus.remove(targets, collection=collection) if targets else 0
    message = f"{terminal.count_noun(removed, 'document')} removed"
    print_result(as_json, {"removed": removed}, lambda: terminal.say(message))


@main.command()
@with_corpus
@with_json
@click.pass_context
def info(context: click.Context, folder: Path, as_json: bool) -> None:
    """Show what a corpus holds, how it was encoded, and where each setting comes from."""
    from generator.extractive.conformal import NOT_CALIBRATED, PROMISED
    from generator.lm.calibration_record import usual
    from generator.lm.decode_step import engine_here
    from rag_app.cli import json_output as shapes
    from rag_app.cli import printing

    top = context.find_root()
    overview = settings.overview(top.obj, top.default_map or {}, settings.leaves(main, top))
    if not as_json:
        printing.settings(overview)
    with open_corpus(folder) as corpus:
        about = corpus.info()
        missing = corpus.missing()
        answers = str(usual(corpus.generator_settings.model))
        record = corpus.abstention() if about.fingerprint else None
    tokens = engine_here()
    known = record.describe(PROMISED) if record else NOT_CALIBRATED
    values = {
        **asdict(about),
        "answers": answers,
        "single_tokens": tokens,
        "abstention": asdict(record) if record else None,
        "missing": [entry.path for entry in missing],
        "settings": shapes.settings(overview),
    }
    print_result(as_json, values, lambda: printing.info(about, missing, answers, tokens, known))
