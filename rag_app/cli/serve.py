"""`rag-app serve`. Nothing heavy is imported before it is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import AnyFile
from rag_app.cli.options import (
    limit_option,
    open_corpus,
    with_corpus,
    with_encoder,
    with_file_limits,
    with_missing_shards,
    with_ocr,
    with_parts,
    with_sees,
    with_synchronous,
    with_withhold,
)
from rag_app.cli.request_options import Fields, field_option, with_fields
from rag_app.cli.terminal import notify, say
from rag_app.request_fields import request_field

if TYPE_CHECKING:
    from generator.answer import Mode
    from generator.parts import Parts
    from indexing.encoder.settings import EncoderSettings
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from indexing.store.database import Synchronous
    from rag_app.chat.web.logins import Logins
    from rag_app.corpus.shards.manifest import MissingShards

LOGIN = "RAG_APP_AUTH"


@click.command()
@with_corpus
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7860, show_default=True,
    help="0 picks a free port.",
)  # fmt: skip
@click.option("--api", is_flag=True, help="Also serve an OpenAI-compatible API at /v1.")
@click.option("--mcp", is_flag=True, help="Also serve tools for other programs (MCP) at /mcp.")
@click.option(
    "--auth-file", type=AnyFile,
    help="File of logins, one person a line, as `rag-app passwd` writes it.  "
    f"[default: ${LOGIN}, else no login]",
)  # fmt: skip
@click.option(
    "--user-header", metavar="NAME",
    help="Header in which a proxy in front says who has logged in.  [default: none]",
)  # fmt: skip
@click.option(
    "--proxy", "proxies", multiple=True, metavar="ADDRESS",
    help="Address of a proxy that is believed; may be repeated.  [default: this machine]",
)  # fmt: skip
@click.option(
    "--measurements", is_flag=True,
    help="Also show what measures, for engineers: a view, and position checks.",
)  # fmt: skip
@field_option(
    request_field("mode"), default="quote", show_default=True,
    help="Default answers: verbatim quotes or generated; the page offers both.",
)  # fmt: skip
@click.option(
    "--generator", help="Language model, as in `rag-app ask`; then the page offers no other."
)
@with_sees
@with_fields("command", "ask", "evidence", "abstain_below")
@with_withhold
@with_parts
@with_encoder
@with_ocr
@with_file_limits
@limit_option("--max-recording-mb", 2048, "Refuse uploaded recordings larger than this.")
@with_synchronous
@with_missing_shards
def serve(
    folder: Path,
    host: str,
    port: int,
    api: bool,
    mcp: bool,
    auth_file: Path | None,
    user_header: str | None,
    proxies: tuple[str, ...],
    measurements: bool,
    mode: Mode,
    generator: str | None,
    sees: bool,
    fields: Fields,
    withhold: float | None,
    parts: Parts,
    encoder: EncoderSettings | None,
    ocr: OcrSettings,
    limits: FileLimits,
    max_recording_mb: int,
    synchronous: Synchronous,
    missing_shards: MissingShards,
) -> None:
    """Serve a chat page in the browser, and other programs with --api and --mcp. Ctrl-C stops it.

    Nothing is loaded from or sent to another machine, unless --generator or --reranker names a
    server, or somebody chooses one on the page.
    """
    from indexing.models.runtime import keep_few_kernels, share_memory

    share_memory()
    keep_few_kernels()
    from rag_app.chat.web import server

    options = server.ServerOptions(
        host=host,
        port=port,
        api=api,
        mcp=mcp,
        logins=_logins(auth_file),
        user_header=user_header,
        proxies=proxies or server.PROXIES,
    )
    server.require_gradio()

    from generator.settings import GeneratorSettings
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.chat.application import Application

    settings = GeneratorSettings(
        model=generator or DEFAULT_GENERATOR,
        evidence=fields["evidence"] or "auto",
        answerable=fields["abstain_below"],
        sees=sees,
        withhold=withhold,
        parts=parts,
    )
    with open_corpus(
        folder,
        encoder=encoder,
        generator=settings,
        limits=limits,
        ocr=ocr,
        synchronous=synchronous,
        missing_shards=missing_shards,
    ) as corpus:
        app = Application(
            corpus,
            answer=mode,
            model_named=generator is not None,
            max_recording=max_recording_mb << 20,
            people=options.logins.users if options.logins else (),
            measurements=_measurements() if measurements else None,
        )
        server.serve(app, options, ready=lambda address: _ready(address, options))


def _measurements() -> Any:  # noqa: ANN401 - of Gradio
    from rag_app.laboratory.page.evaluation_view import evaluate

    return evaluate


def _ready(address: str, options: object) -> None:
    say(f"rag-app is at {address}")
    for name, path in (("api", "/v1"), ("mcp", "/mcp")):
        if getattr(options, name):
            say(f"{name} at {address}{path}")


def _logins(file: Path | None) -> Logins | None:
    """The logins of a file or the environment; never of the command line, where others see them.

    Raises:
        InvalidRequest: The file cannot be read, or holds no logins.
    """
    from rag_app.chat.web.logins import Logins

    if file is None:
        text = os.environ.get(LOGIN)
        return None if text is None else Logins.parse(text)
    try:
        logins = Logins.parse(file.read_text(encoding="utf-8"))
        if plain := logins.plain:
            notify(
                f"{file}: {len(plain)} of {len(logins.people)} passwords can be read in it; "
                f"hash them with: rag-app passwd {file} --hash"
            )
        return logins
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(
            f"{file}: cannot be read ({error}); write it with: rag-app passwd {file} USER"
        ) from error
