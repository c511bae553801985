"""`rag-app evaluate lost-in-the-middle`. Heavy imports wait until it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import DECODINGS, AnyPath, CorpusPlace, numbers
from rag_app.cli.options import print_result, with_json
from rag_app.cli.terminal import notify, say

if TYPE_CHECKING:
    from rag_app.laboratory.datasets.probes import Probe
    from rag_app.laboratory.evaluation.positions import PositionReport

PROBES = ["passkey", "kv", "qa"]
LENGTHS = (500, 1000, 2000)


@click.command("lost-in-the-middle")
@click.option("--probe", type=click.Choice(PROBES), default="qa", show_default=True)
@click.option("--positions", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--lengths", callback=numbers(), help="Tokens of evidence.  [default: 500,1000,2000]")
@click.option("--questions", type=click.IntRange(min=1, max=144), default=20, show_default=True)
@click.option("--generator", help="Language model: packaged, folder or hub name.")
@click.option(
    "--method", "methods", multiple=True, metavar="off|calibrated|tried|ms-poe[:R[-R]]|lpes:R-R...",
    help="May be given more than once.  [default: off and calibrated]",
)  # fmt: skip
@click.option("--written", is_flag=True, help="Generate, instead of scoring the answer.")
@click.option(
    "--decoding", type=click.Choice(DECODINGS), default="concat",
    show_default=True, help="Decoding over the documents; all but concat need --written.",
)  # fmt: skip
@click.option(
    "--read-once", is_flag=True,
    help="Read each list of key-value pairs once for all positions, the question after it only.",
)  # fmt: skip
@click.option("--writer", is_flag=True, help="The packaged model as tuned to write from quotes.")
@click.option(
    "--corpus", "folder", type=CorpusPlace(),
    help="Take the text from this corpus.  [default: the sample documents]",
)  # fmt: skip
@click.option("--data", type=AnyPath, help="Key-value records, JSON lines, as published.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--plot", type=AnyPath, help="Plot accuracy by position into a PNG.")
@with_json
def lost_in_the_middle(
    probe: str,
    positions: int,
    lengths: tuple[int, ...] | None,
    questions: int,
    generator: str | None,
    methods: tuple[str, ...],
    written: bool,
    decoding: str,
    read_once: bool,
    writer: bool,
    folder: Path | None,
    data: Path | None,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Accuracy by position of the evidence: first, in the middle, last."""
    if data is not None and (probe != "kv" or lengths or folder):
        raise InvalidRequest("--data holds key-value records of their own length: use --probe kv")
    if plot:
        from rag_app.laboratory.evaluation.pictures.heatmap import require_matplotlib

        require_matplotlib()
    from generator.lm.causal_lm import ADAPTERS, CausalModel
    from indexing.models.files import DEFAULT_GENERATOR
    from rag_app.laboratory.evaluation import positions as measuring

    name = generator or DEFAULT_GENERATOR
    if writer and name != DEFAULT_GENERATOR:
        raise InvalidRequest("the writer is the packaged model; leave out --generator")
    model = CausalModel.load(name, notify=notify, adapters=ADAPTERS if writer else None)
    settings = {
        name: measuring.parse_method(name, model) for name in methods or ("off", "calibrated")
    }
    probes = _probes(model, probe, lengths or LENGTHS, questions, folder, data, seed)
    report = measuring.evaluate(
        model, probes, methods=settings, positions=positions, written=written, decoding=decoding,
        read_once=read_once,
    )  # fmt: skip
    if plot:
        from rag_app.laboratory.evaluation.pictures.position_plot import draw

        draw(f"{report.model}, {report.probe}", report.places, report.curves, plot)
        notify(f"the picture is in {plot}")
    print_result(as_json, report.as_dict(), lambda: _say(report))


def _probes(
    model: Any,  # noqa: ANN401 - the type lives in a heavy module
    kind: str,
    lengths: tuple[int, ...],
    questions: int,
    folder: Path | None,
    data: Path | None,
    seed: int,
) -> dict[int, list[Probe]]:
    """Probes by length; refused if too long for the model."""
    from rag_app.laboratory.datasets.probes import (
        Material,
        corpus_haystack,
        make_probes,
        read_key_values,
    )

    if data is not None:
        probes = {0: read_key_values(data, questions)}
    else:
        hay = corpus_haystack(folder)
        probes = {
            length: make_probes(kind, questions, Material(hay, model.count, length, seed))
            for length in lengths
        }
    longest = max(len(one.prompt(model.chat, 0.0).ids) for each in probes.values() for one in each)
    if longest + 60 > model.window:
        raise InvalidRequest(
            f"the longest prompt has {longest} tokens, and {model.name} reads {model.window}; "
            "ask for less with --lengths, or take another file"
        )
    return probes


def _say(report: PositionReport) -> None:
    from rag_app.laboratory.evaluation.table import grid

    say(f"{report.model}, {report.probe}, scoring {report.scoring}\n")
    head = ["tokens", "method", *(f"{place:.0%}" for place in report.places)]
    rows = [
        [
            f"{curve.length:,}" if curve.length else "file",
            curve.method,
            *(f"{one.value:.0%}" for one in curve.accuracy),
            *(
                f"{one.value:.0%} ({one.low:.0%}-{one.high:.0%})"
                for one in (curve.mean, curve.worst, curve.gap)
            ),
        ]
        for curve in report.curves
    ]
    say(grid([*head, "mean", "worst", "gap"], rows))
