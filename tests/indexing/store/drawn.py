"""A document with everything a document can have, and drawn vectors."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from indexing.documents import Document, Occasion, Page, Passage, Utterance
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.store.store import Store

FP = Fingerprint("model", "r1", "pcw", 64, "mean", "float32", 4)
TEXT = "Ana: Zoë saw 東京 \U0001f600 twice.\nBob: A probe, no more."


def document(id_: str = "a" * 12, *, text: str = TEXT) -> Document:
    """A document that has everything a document can have."""
    return Document(
        id=id_,
        path=f"/notes/{id_}.vtt",
        part="two 'quoted'",
        title='A "title"; DROP TABLE documents',
        format="vtt",
        digest=f"digest of {text}",
        text=text,
        utterances=(Utterance(0, 25, 5, "Ana", 1.5), Utterance(26, len(text), 31, None, None)),
        pages=(Page(0, 25, 1), Page(26, len(text), 3)),
        breaks=(0, 26),
        occasion=Occasion("2026-03-14T09:30:00", "file name", ("Ana", "Łukasz"), "first lines"),
    )


def passages(text: str = TEXT) -> list[Passage]:
    return [Passage(0, 25, ("Ana", "Łukasz"), 1.5, 1), Passage(26, len(text), (), None, None)]


def encoded(seed: int, count: int = 2) -> EncodedDocument:
    draw = np.random.default_rng(seed)
    whole, parts = draw.normal(size=4), draw.normal(size=(count, 4))
    return EncodedDocument(whole.astype(np.float32), parts.astype(np.float32), 20 + seed, 20)


def put(store: Store, id_: str, *, seed: int = 0, text: str = TEXT) -> None:
    store.put(document(id_, text=text), passages(text), encoded(seed), added="now")


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A stored passage, with the row number of its document."""

    row: int
    document: int
    passage: Passage


def passage_rows(store: Store) -> list[PassageRow]:
    """Every passage, by document row and position."""
    rows = store.database.rows(
        'SELECT row, document, start, "end", speakers, time, page FROM passages'
        " ORDER BY document, start"
    )
    return [
        PassageRow(row, document, Passage(start, end, tuple(json.loads(who)), time, page))
        for row, document, start, end, who, time, page in rows
    ]
