"""Options that commands share, and what comes of their values."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from generator.generator import GeneratorSettings
    from retriever.filters import Filter

Command = TypeVar("Command", bound=Callable[..., Any])


def with_corpus(command: Command) -> Command:
    """Add --corpus."""
    return click.option(
        "--corpus",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="RAG_APP_CORPUS",
        show_envvar=True,
        default=".rag-app",
        show_default=True,
        help="The folder that holds the corpus.",
    )(command)


def with_json(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def with_encoder(command: Command) -> Command:
    """Add --encoder, --extension, --max-length and --dtype."""
    options = [
        click.option("--encoder", help="Packaged name, folder or hub name.  [default: packaged]"),
        click.option(
            "--extension",
            type=click.Choice(["none", "pcw", "gp", "rp", "pi", "ntk", "self-extend"]),
            help="How documents longer than the model's window are read.  [default: pcw]",
        ),
        click.option("--max-length", type=click.IntRange(min=8), help="Tokens of one window."),
        click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16"])),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def with_generator(command: Command) -> Command:
    """Add --answer, --generator, --decoding, --quotes, --ms-poe and --max-tokens."""
    options = [
        click.option(
            "--answer", type=click.Choice(["quote", "free"]), help="Quotes, or own words."
        ),
        click.option(
            "--generator",
            help="Language model for free answers: packaged, folder, hub name, or "
            "openai:BASE_URL#MODEL.",
        ),
        click.option(
            "--decoding",
            type=click.Choice(["concat", "rag-token", "rag-sequence"]),
            help="How a free answer reads the evidence: as one prompt, or each passage by itself.",
        ),
        click.option(
            "--quotes",
            type=click.Choice(["ranked", "decoded"]),
            help="Who chooses quotes: their rank, or the language model, writing only what is "
            "there.",
        ),
        click.option(
            "--ms-poe",
            type=click.Choice(["calibrated", "on", "off"]),
            help="Positions on several scales, for what lies in the middle.  [default: calibrated]",
        ),
        click.option("--max-tokens", type=click.IntRange(min=1), help="Of a free answer."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def with_filters(command: Command) -> Command:
    """Add --document, --path and --speaker."""
    options = [
        click.option("--document", "documents", multiple=True, help="Only this id or title."),
        click.option(
            "--path", "pattern", help='Only files like this, for example "minutes/*.vtt".'
        ),
        click.option("--speaker", help="Only passages in which they speak."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def encoder_settings(
    model: str | None, extension: str | None, max_length: int | None, dtype: str | None
) -> Any:  # noqa: ANN401 - the type lives in a heavy module
    """Settings from flags; None when no flag was given, so that the corpus's own count."""
    from indexing.encoder import EncoderSettings

    if not (model or extension or max_length or dtype):
        return None  # the settings that the corpus was made with
    default = EncoderSettings()
    return EncoderSettings(
        model=model or default.model,
        extension=extension or default.extension,
        max_length=max_length,
        dtype=dtype or default.dtype,
    )


def generator_settings(
    model: str | None,
    decoding: str | None,
    quotes: str | None,
    ms_poe: str | None,
    max_tokens: int | None,
) -> GeneratorSettings:
    """Settings from flags; defaults where no flag was given."""
    from generator.generator import GeneratorSettings

    default = GeneratorSettings()
    return replace(
        default,
        model=model or default.model,
        decoding=decoding or default.decoding,
        quotes=quotes or default.quotes,
        ms_poe=ms_poe or default.ms_poe,
        max_new_tokens=max_tokens or default.max_new_tokens,
    )


def filters(documents: tuple[str, ...], pattern: str | None, speaker: str | None) -> Filter:
    """The limits of a search from flags."""
    from retriever.filters import Filter

    return Filter(documents=documents, path=pattern, speaker=speaker)


def print_result(as_json: bool, values: object, print_text: Callable[[], None]) -> None:
    """Print values as JSON, or let the text be printed."""
    if as_json:
        click.echo(json.dumps(values, ensure_ascii=False, indent=2))
    else:
        print_text()
