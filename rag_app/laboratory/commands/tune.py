"""`rag-app tune`. Heavy imports wait until it is called."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import TUNED, AnyFile, AnyPath
from rag_app.cli.options import print_result, with_file_limits, with_json
from rag_app.cli.terminal import notify, say

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from indexing.extension.tuned import Record
    from indexing.limits import FileLimits
    from indexing.walk import Failure
    from rag_app.laboratory.tuning.verdict import Verdict

SOME_FILES_FAILED = 3


@click.command()
@click.argument("paths", nargs=-1, required=True, type=AnyPath)
@click.option(
    "--out", type=AnyFile, required=True,
    help="File of the trained positions.",
)  # fmt: skip
@click.option(
    "--max-length", type=click.IntRange(min=8), required=True,
    help="Window in tokens that the encoder shall read.",
)  # fmt: skip
@click.option(
    "--encoder",
    help="Encoder model: packaged name, folder or hub name.  [default: packaged]",
)
@click.option(
    "--epochs", type=click.IntRange(min=1), default=3, show_default=True,
    help="Times through the documents.",
)  # fmt: skip
@click.option("--learning-rate", type=click.FloatRange(min=0), default=5e-4, show_default=True)
@click.option(
    "--batch-size", type=click.IntRange(min=2), default=32, show_default=True,
    help="Pairs of spans in a step.",
)  # fmt: skip
@click.option(
    "--span-words", type=click.IntRange(min=1), default=150, show_default=True,
    help="Words of a training text.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True)
@with_file_limits
@with_json
def tune(
    paths: tuple[Path, ...],
    out: Path,
    max_length: int,
    encoder: str | None,
    epochs: int,
    learning_rate: float,
    batch_size: int,
    span_words: int,
    seed: int,
    limits: FileLimits,
    as_json: bool,
) -> None:
    """Train an encoder's positions on your documents, so that it reads longer texts.

    For encoders with a learned table of positions, such as BERT. Only new rows of that table are
    trained; `--extension tuned:FILE` then uses them. Every fifth piece of the documents is held
    out, to say whether they read it better than positions interpolated without training.
    """
    from rag_app.laboratory.tuning.training import Tuning
    from rag_app.laboratory.tuning.training import tune as train
    from rag_app.laboratory.tuning.verdict import hold_out, judge
    from rag_app.progress import steps

    if out.exists():
        raise InvalidRequest(f"{out}: exists, and a corpus may need it; give another --out")
    if not out.absolute().parent.is_dir():
        raise InvalidRequest(f"{out}: its folder does not exist; make it first")
    texts, failures = _read(paths, limits)
    for failure in failures:
        say(f"rag-app: {failure}", error=True)
    tuning = Tuning(
        epochs=epochs, learning_rate=learning_rate, batch_size=batch_size,
        span_words=span_words, seed=seed,
    )  # fmt: skip
    split, model = hold_out(texts, max_length=max_length), _model(encoder)
    with steps("Tuning") as progress:
        result = train(
            model, split.train, out, max_length=max_length, tuning=tuning, progress=progress
        )
    record = result.positions.record()
    verdict = judge(model, out, split.held) if split.held else None
    values = {
        "file": str(out.resolve()),
        "model": record.base,
        "documents": len(texts),
        "window": record.original,
        "max_length": record.max_length,
        "rows": record.rows,
        "losses": list(result.losses),
        "verdict": verdict.as_dict() if verdict else None,
        "failures": [str(failure) for failure in failures],
    }
    print_result(as_json, values, lambda: _print(out, encoder, record, result.losses, verdict))
    if failures:
        raise SystemExit(SOME_FILES_FAILED)


def _read(paths: tuple[Path, ...], limits: FileLimits) -> tuple[list[str], list[Failure]]:
    """The texts of files, and the files or parts of them that could not be read."""
    from indexing.files import FileReader
    from indexing.walk import Failure, resolved, walk

    named = {resolved(path) for path in paths}
    texts: list[str] = []
    failures: list[Failure] = []
    with FileReader(limits) as reader:
        for file in walk(paths):
            for entry in [file] if isinstance(file, Failure) else reader.read(file):
                if not isinstance(entry, Failure):
                    texts.append(entry.text)
                elif not (entry.beside_text or (entry.other_kind and file not in named)):
                    failures.append(entry)
    return texts, failures


def _model(name: str | None) -> SentenceTransformer:
    """The encoder in float32, as it is trained."""
    from indexing.encoder.encoder import load_model
    from indexing.encoder.settings import EncoderSettings
    from indexing.models.files import DEFAULT_ENCODER, encoder_weights

    settings = EncoderSettings(model=name or DEFAULT_ENCODER, dtype="float32")
    weights = encoder_weights(settings.model, notify=notify)
    return load_model(weights, settings)[0]


def _print(
    out: Path,
    encoder: str | None,
    record: Record,
    losses: tuple[float, ...],
    verdict: Verdict | None,
) -> None:
    for epoch, loss in enumerate(losses, 1):
        say(f"epoch {epoch}: loss {loss:.4f}")
    say(
        f"{out}: {record.rows:,} rows trained, for windows of {record.max_length:,} tokens "
        f"instead of {record.original:,}"
    )
    say(verdict.sentence if verdict else _no_verdict(record))
    flags = f"--encoder {shlex.quote(encoder)} " if encoder else ""
    say(f"To use it: rag-app index PATHS {flags}--extension {shlex.quote(f'{TUNED}{out}')}")


def _no_verdict(record: Record) -> str:
    from rag_app.laboratory.tuning.verdict import FEWEST, HELD, piece_words

    words = piece_words(record.max_length)
    return (
        f"no verdict: it takes {FEWEST * HELD} pieces of {words:,} words, one in {HELD} of them "
        "held out; all that there is was trained on"
    )
