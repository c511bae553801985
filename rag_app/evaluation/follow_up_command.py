"""`rag-app evaluate follow-up`. Heavy imports wait until it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rag_app.cli.options import DECODINGS, print_result, with_json

if TYPE_CHECKING:
    from rag_app.evaluation.follow_up import FollowUpReport


@click.command("follow-up")
@click.option("--generator", help="Language model: packaged, folder or hub name.")
@click.option("--tokens", type=click.IntRange(min=50), default=2000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1, max=144), default=5, show_default=True)
@click.option(
    "--decoding",
    "decodings",
    multiple=True,
    type=click.Choice(DECODINGS),
    help="May be given more than once.  [default: all]",
)
@click.option("--dtype", type=click.Choice(["float32", "bfloat16"]), help="[default: the fastest]")
@with_json
def follow_up(  # noqa: PLR0913, PLR0917 - one argument for each flag
    generator: str | None,
    tokens: int,
    rounds: int,
    decodings: tuple[str, ...],
    dtype: str | None,
    as_json: bool,
) -> None:
    """How soon a second question over the same evidence is answered, and whether alike."""
    import torch

    from generator.lm.causal_lm import CausalModel
    from indexing.encoder.encoder import Encoder, EncoderSettings
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.corpus.embedding_cache import Remembering
    from rag_app.datasets.haystack import haystack
    from rag_app.evaluation import follow_up as measuring

    model = CausalModel.load(
        generator or DEFAULT_GENERATOR,
        dtype=getattr(torch, dtype) if dtype else None,
        notify=_notify,
    )
    encoder = Encoder(EncoderSettings(), notify=_notify)
    report = measuring.evaluate(
        model,
        Remembering(encoder.encode_queries),
        haystack(None),
        decodings=decodings or tuple(DECODINGS),
        tokens=tokens,
        rounds=rounds,
    )
    print_result(as_json, report.as_dict(), lambda: _say(report))


def _notify(line: str) -> None:
    click.echo(line, err=True)


def _say(report: FollowUpReport) -> None:
    from rag_app.evaluation.table import grid

    click.echo(
        f"{report.model}, {report.dtype}, {report.tokens:,} tokens of evidence; seconds to the "
        "first text: by the model / with the ranking of the evidence\n"
    )
    rows = [
        [
            one.decoding,
            *(f"{each.model:.3f} / {each.whole:.3f}" for each in (one.first, one.second, one.anew)),
            f"{one.ratio.model:.1f} / {one.ratio.whole:.1f}",
            f"{one.same:.0%}",
        ]
        for one in report.decodings
    ]
    head = ["decoding", "first question", "second", "second, read anew", "ratio", "same answer"]
    click.echo(grid(head, rows))
