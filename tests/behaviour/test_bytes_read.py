"""A question, a document, a picture and a citation read what they need, however many there are.

What is counted are the bytes that the system gave to this process (/proc/self/io): all that SQLite
reads, and files; not the vectors and words of the index, which are mapped and compared as a search
compares them. The models are in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from indexing.documents import Figure, Occasion
from indexing.encoder.encoder import Encoder
from indexing.encoder.pooling import EncodedDocument
from indexing.files import document
from indexing.filter import Scope
from indexing.store.store import Store
from indexing.text.chunking import split
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.segments import Segments

IO = Path("/proc/self/io")
WORDS = ("bridge", "ferry", "steel", "harbour", "budget", "tide", "storm", "cargo", "crane", "pier")
QUESTION = "Who pays for the ferry and the crane?"
FIFTH = 1.2
DEEPER = 5 * 4096  # bytes: a level more of each of SQLite's trees that a name is looked up in

pytestmark = pytest.mark.skipif(not IO.exists(), reason="the system does not count what is read")


def fill(folder: Path, count: int, encoder: Encoder) -> str:
    """A corpus of so many transcripts of 3,600 words; the id of one in the middle."""
    with closing(Store(folder, create=True)) as store:
        store.set_fingerprint(encoder.fingerprint)
        for number in range(count):
            draw = np.random.default_rng(number)
            lines = [
                f"{name}: {' '.join(draw.choice(WORDS, 300)).capitalize()}."
                for name in ("Ana", "Bob") * 6
            ]
            one = document(
                "\n\n".join(lines), name=f"/minutes/{number:05}.md", title=f"report {number:05}"
            )
            day = date(2026, 6, 30) - timedelta(days=number)
            guests = ("Cem Aydin",) if number < 5 else ()
            one = replace(one, occasion=Occasion(day.isoformat(), "file name", guests))
            spans = split(one)
            own = draw.standard_normal((len(spans) + 1, encoder.fingerprint.dimension))
            own = (own / np.linalg.norm(own, axis=1, keepdims=True)).astype(np.float32)
            store.put(one, spans, EncodedDocument(own[0], own[1:], 0, 0), added="now")
        middle = store.identities()[count // 2].id
        figure = Figure(0, 1, 1, "image/png", data=os.urandom(50_000), key="f" * 32)
        store.pictures.put(middle, [figure])
        Segments(folder).refresh(store)
    return middle


def read_by(folder: Path, encoder: Encoder, action: Callable[[Corpus], object]) -> int:
    """Bytes read by what opens the corpus, does one thing and has nothing of it in memory."""
    with Corpus(folder, encoder=encoder) as corpus:
        before = _given()
        action(corpus)
        return _given() - before


def _given() -> int:
    """Bytes that reads have given to this process."""
    return int(dict(line.split(": ") for line in IO.read_text().splitlines())["rchar"])


def actions(id_: str) -> dict[str, Callable[[Corpus], object]]:
    """What people do, with a document by its id, for everybody and for one person."""
    mine = Scope("ana")
    return {
        "show": lambda corpus: corpus.document(id_),
        "a citation of a person": lambda corpus: corpus.seen_by(mine).document(id_),
        "overview": lambda corpus: corpus.overview(id_),
        "picture": lambda corpus: corpus.seen_by(mine).figure(id_, "f" * 32),
        "show by title": lambda corpus: corpus.document("report 00007"),
        "ask": lambda corpus: corpus.seen_by(mine).ask(f"According to report 00007, {QUESTION}"),
        "search of a person": lambda corpus: corpus.seen_by(mine).search(QUESTION),
        "a month": lambda corpus: corpus.seen_by(mine).ask("What did Ana say in May?"),
        "a meeting with somebody": lambda corpus: corpus.ask(
            f"In the meeting with Cem, {QUESTION}"
        ),
        "since a day": lambda corpus: corpus.seen_by(mine).ask(QUESTION, since="2026-06-20"),
        "who takes part": lambda corpus: corpus.search(QUESTION, participants=("Cem",)),
        "what somebody says": lambda corpus: corpus.seen_by(mine).ask(QUESTION, speaker="Ana"),
        "a path": lambda corpus: corpus.search(QUESTION, path="minutes/00007.md"),
    }


def compare(folder: Path, encoder: Encoder, *, few: int, many: int) -> None:
    """Bytes of each action in a small and a large corpus."""
    small, large = folder / "small", folder / "large"
    ids = fill(small, few, encoder), fill(large, many, encoder)
    with Corpus(small, encoder=encoder) as corpus:
        corpus.ask(QUESTION)  # loads what is not of the corpus
        corpus.overview(ids[0])
    for name, action in actions(ids[0]).items():
        one, two = (
            read_by(small, encoder, action),
            read_by(large, encoder, actions(ids[1])[name]),
        )
        assert 0 < two <= FIFTH * one + DEEPER, (name, one, two)


def test_bytes_do_not_grow_with_the_corpus(tmp_path: Path, encoder: Encoder) -> None:
    compare(tmp_path, encoder, few=50, many=200)


@pytest.mark.slow
def test_bytes_do_not_grow_to_fifteen_thousand(tmp_path: Path, encoder: Encoder) -> None:
    compare(tmp_path, encoder, few=100, many=15_000)
