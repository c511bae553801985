"""`rag-app optimize`. Nothing heavy is imported before it is called."""

from __future__ import annotations

from pathlib import Path

import click

from rag_app.cli.options import open_corpus, print_result, with_corpus, with_json, with_wait
from rag_app.cli.terminal import count_noun, say


@click.command()
@with_corpus
@with_wait
@with_json
def optimize(folder: Path, wait: float, as_json: bool) -> None:
    """Merge the index's segments into one; others may search meanwhile.

    Segments of a size are merged as documents come, so this is seldom worth the time.
    """
    with open_corpus(folder, wait=wait) as corpus:
        before = corpus.optimize()
        after = corpus.info().segments
    values = {"before": before, "after": after}
    print_result(as_json, values, lambda: say(f"{count_noun(before, 'segment')}, now {after}"))
