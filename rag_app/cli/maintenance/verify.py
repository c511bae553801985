"""`rag-app verify`. Nothing heavy is imported before it is called."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.errors import CorpusDamaged, InvalidRequest
from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json
from rag_app.cli.terminal import count_noun, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.store.repair.verification import Damage
    from rag_app.corpus.corpus import Corpus

DAMAGED = 1


@click.command()
@click.option("--quick", is_flag=True, help="Only what every opening of a corpus looks at.")
@click.option(
    "--repair", is_flag=True,
    help="Encode damaged documents again, or read them again from their files.",
)  # fmt: skip
@with_corpus
@with_json
def verify(quick: bool, repair: bool, folder: Path, as_json: bool) -> None:
    """Check that a corpus is as it was written, and name the documents that are not.

    Exit status: 0 if it is sound or all was repaired, 1 if not.
    """
    if quick and repair:
        raise InvalidRequest("give --quick or --repair, not both")
    with open_corpus(folder) as corpus:
        done = _repair if repair else (_quick if quick else _verify)
        sound = done(corpus, as_json)
    if not sound:
        raise SystemExit(DAMAGED)


def _quick(corpus: Corpus, as_json: bool) -> bool:

    reason = ""
    try:
        count = len(corpus.documents())
    except CorpusDamaged as error:
        count, reason = 0, str(error)
    values = {"sound": not reason, "documents": count, "damages": [reason] if reason else []}
    line = reason or f"{count_noun(count, 'document')}: sound at a quick look"
    print_result(as_json, values, lambda: say(line))
    return not reason


def _verify(corpus: Corpus, as_json: bool) -> bool:
    from rag_app.progress import steps

    with steps("Verifying") as progress:
        result = corpus.verify(progress=progress)

    def show() -> None:
        _show(result.damages)
        if result.sound:
            say(f"{count_noun(result.documents, 'document')}: sound")
        else:
            say("repair it with: rag-app verify --repair; or restore a backup")

    damages = [asdict(one) for one in result.damages]
    values = {"sound": result.sound, "documents": result.documents, "damages": damages}
    print_result(as_json, values, show)
    return result.sound


def _repair(corpus: Corpus, as_json: bool) -> bool:
    from rag_app.progress import steps

    with steps("Repairing") as progress:
        result = corpus.repair(progress=progress)

    def show() -> None:
        _show(result.damages)
        say(f"{count_noun(len(result.repaired), 'document')} repaired")
        for one in result.lost:
            say(f"not repaired: {one}; restore a backup, or add its file again")
        if result.aside:
            say(f"the damaged database is kept as {result.aside}")

    print_result(as_json, {"sound": not result.lost, **asdict(result)}, show)
    return not result.lost


def _show(damages: Sequence[Damage]) -> None:
    for one in damages:
        say(f"damaged: {one}")
