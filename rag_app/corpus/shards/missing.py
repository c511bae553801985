"""Lost shards in, lines of the context ledger about the documents not searched out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generator.answer import ContextEntry
from indexing.documents import Hit
from indexing.message import N_
from indexing.store.view import DocumentEntry
from rag_app.corpus.shards.manifest import shard_of


@dataclass(frozen=True, slots=True)
class PartialHits:
    """What a search found, and where it did not look."""

    hits: list[Hit]  # documents, best first
    # a line of the context ledger for each lost shard that was left out
    missing: tuple[ContextEntry, ...] = ()


def ledger_lines(
    lost: Sequence[str], names: Sequence[str], entries: Iterable[DocumentEntry]
) -> tuple[ContextEntry, ...]:
    """A line for each lost shard that holds any of the documents that were asked."""
    documents, tokens = Counter[str](), Counter[str]()
    for entry in entries:
        shard = shard_of(entry.id, names)
        documents[shard] += 1
        tokens[shard] += entry.tokens
    return tuple(
        ContextEntry(
            "",
            N_(
                "shard %(name)s is lost; documents not looked at: %(number)s",
                name=name,
                number=f"{documents[name]:,}",
            ),
            tokens[name],
            0,
            tokens[name],
        )
        for name in lost
        if documents[name]
    )
