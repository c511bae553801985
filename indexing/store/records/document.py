"""A document as its row in the database has it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from indexing.documents import Document, Figure, Page, Utterance, renamed
from indexing.store.facts import FIGURES, OCCASION, SPEAKER_NAMES, column, to_occasion

DOCUMENT = (
    "id, path, part, title, format, digest, text, turns, pages, breaks, metadata,"
    f" {column(OCCASION)}, {column(SPEAKER_NAMES)}, {column(FIGURES)}"
)
"""The columns that `to_document` takes."""


def to_document(values: Sequence[Any]) -> Document:
    """A document from the values of the columns `DOCUMENT`."""
    *names, text, utterances, pages, breaks, metadata, occasion, speakers, figures = values
    id_, path, part, title, format_, digest = names
    return Document(
        id=id_,
        path=path,
        part=part,
        title=title,
        format=format_,
        digest=digest,
        text=text,
        utterances=renamed(
            (Utterance(*utterance) for utterance in json.loads(utterances)),
            json.loads(speakers or "{}"),
        ),
        pages=tuple(Page(*page) for page in json.loads(pages)),
        breaks=tuple(json.loads(breaks)),
        metadata=metadata,
        occasion=to_occasion(occasion),
        figures=tuple(Figure(**each) for each in json.loads(figures or "[]")),
    )
