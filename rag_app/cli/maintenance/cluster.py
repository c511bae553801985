"""`rag-app cluster`: divide a corpus into shards."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_app.cli.option_types import ClusterPlace
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.terminal import say

if TYPE_CHECKING:
    from rag_app.corpus.shards.manifest import ShardManifest


@click.group(invoke_without_command=True)
@with_corpus
@with_json
@click.pass_context
def cluster(context: click.Context, folder: Path, as_json: bool) -> None:
    """Divide the search of a corpus among shards, and list them.

    Shards find what the corpus finds in one piece: the same documents and scores. When documents
    change, only the shards that own them are made again.
    """
    if context.invoked_subcommand is not None:
        return

    with open_corpus(folder) as corpus:
        manifest = corpus.shards
    _print(manifest, as_json)


@cluster.command()
@click.option(
    "--shards", type=click.IntRange(1, 4096), required=True, metavar="N", help="How many shards."
)
@click.option(
    "--ray", type=ClusterPlace(), metavar="HOST:PORT", default="",
    help="Search them on the machines of this Ray cluster.  [default: in the process that asks]",
)  # fmt: skip
@click.option(
    "--replicas", type=click.IntRange(1, 64), default=1, show_default=True, metavar="R",
    help="With --ray, how many machines have each shard.",
)  # fmt: skip
@click.option(
    "--name", default="",
    help="With --ray, what the corpus is called there, as in --corpus ray://HOST:PORT/NAME.  "
    "[default: as its folder]",
)  # fmt: skip
@click.option(
    "--ray-gpus", "gpus", type=click.FloatRange(min=0), default=0, show_default=True, metavar="N",
    help="With --ray, GPUs of each shard's process, which compare its vectors; 0.25 lets four "
    "share one.",
)  # fmt: skip
@with_corpus
@with_json
def init(
    shards: int, ray: str, replicas: int, name: str, gpus: float, folder: Path, as_json: bool
) -> None:
    """Divide a corpus into N shards, or into another number of them.

    Each document belongs to one, by a hash of its id. Nothing is encoded again: documents and
    vectors are copied, and with another number only those move that have to. With --ray, the folder
    of the corpus has to be under the same path on all machines.
    """
    with open_corpus(folder) as corpus:
        manifest = corpus.divide(shards, ray=ray, replicas=replicas, name=name, gpus=gpus)
    _print(manifest, as_json)


@cluster.command()
@with_corpus
def dissolve(folder: Path) -> None:
    """Search the corpus in one piece again; no document is lost."""
    with open_corpus(folder) as corpus:
        corpus.unite()
    say("searched in one piece")


def _print(manifest: ShardManifest | None, as_json: bool) -> None:
    def show() -> None:
        if manifest is None:
            say("in one piece; to divide it: rag-app cluster init --shards N")
            return
        where = f", searched by ray://{manifest.ray}/{manifest.name}" if manifest.ray else ""
        copies = f", {manifest.replicas} replicas" if manifest.replicas > 1 else ""
        gpus = f", {manifest.gpus:g} GPUs each" if manifest.gpus else ""
        say(f"generation {manifest.generation}{where}{copies}{gpus}")
        for one in manifest.shards:
            say(f"shard {one.name}: {one.documents:,} documents, {one.passages:,} passages")

    values = asdict(manifest) if manifest else None
    shards = values["shards"] if values else []
    about = (
        {name: values[name] for name in ("generation", "ray", "name", "replicas", "gpus")}
        if values
        else {}
    )
    print_result(as_json, {**about, "shards": shards}, show)
