"""Shards find what one snapshot of all documents finds: ids, order and scores, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from indexing.index.dense import faiss_index
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from indexing.store.transfer import transfer, versions
from rag_app.corpus.corpus import Corpus
from retriever import diversity
from retriever.features import Embed
from retriever.fusion import RANKINGS
from retriever.retriever import Retriever, search

SUBJECTS = ("lighthouse", "ferry", "budget", "steel", "harbour", "probe", "Rat", "crew")
PEOPLE = ("Ana", "Bob", "Ana Lopez", "Professor B", "Cara")
QUESTIONS = (
    "Where did the probe fall?",
    "What did Ana Lopez say about the budget of the ferry? Who paints the steel?",
    "Was sagt Bob über den Leuchtturm und den Rat?",
    "Wo liegt das Schiff?",
    "What did Ana say, and Professor B?",
    "Zebra crossings",  # words that nobody says: all are equal, and the first come first
    "the",
    " ".join(f"Number {n} tells of the harbour." for n in range(31)),  # more texts than BLAS splits
)
FILTERS = (
    None,
    Filter(speaker="ana"),
    Filter(path="*.vtt.txt"),
    Filter(since="2025-02"),
    Filter(participants=("Cara",)),
    Filter(documents=("talk-4",)),
)


def write_documents(folder: Path) -> None:
    """Thirty transcripts and reports, in two languages, of one to many passages."""
    draw = np.random.default_rng(7)
    for n in range(24):
        words = draw.choice(SUBJECTS, 120)
        lines = [
            f"{draw.choice(PEOPLE)}: The {word} of {words[at - 1]} cost {at * n} euros in the end."
            for at, word in enumerate(words[: 4 + 12 * (n % 9)])
        ]
        name = f"talk-{n}.txt" if n % 3 else f"report-{n}.vtt.txt"
        (folder / name).write_text(f"Date: 2025-0{1 + n % 3}-11\n\n" + "\n".join(lines))
    for n in range(4):
        text = f"Der Rat der Stadt {n} und das Schiff, die nicht mit dem Leuchtturm zu sehen sind. "
        (folder / f"rat-{n}.txt").write_text(text * (n + 1) * 4)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("corpus")
    write_documents(folder)
    with Corpus(folder / ".rag-app", encoder=encoder) as corpus:
        corpus.add([folder])
        yield corpus


def shards(store: Store, folder: Path, count: int) -> list[tuple[Store, Snapshot]]:
    """The documents of a store, scattered over others; a fifth of these have none."""
    rows = [row for row, _, _ in versions(store)]
    parts = []
    for number in range(count):
        shard = Store(folder / str(number), create=True)
        own = [row for row in rows if row * 7 % count == number and (count < 5 or number)]
        own += [row for row in rows if row * 7 % count == 0] if count >= 5 and number == 1 else []
        transfer(store, shard, own, removed=())
        parts.append((shard, Snapshot.build(shard, exact=True)))
    return parts


@pytest.fixture(scope="module")
def embed(encoder: Encoder) -> Embed:
    return cache(encoder.encode_queries)


@pytest.fixture(scope="module")
def wanted(corpus: Corpus, embed: Embed) -> dict[tuple[str, str, Filter | None], object]:
    """What one snapshot of all documents gives; every filter with the default ranking."""
    with corpus.reading() as now, pytest.MonkeyPatch.context() as patch:
        patch.setattr(diversity, "RANKED", 40)
        whole = Retriever(now.store, now.snapshot, embed)
        return {
            (ranking, question, where): exact(
                replace(whole, ranking=RANKINGS[ranking]).search(
                    question, k=9, passages=4, where=where
                )
            )
            for ranking in RANKINGS
            for question in QUESTIONS
            for where in (FILTERS if ranking == "default" else FILTERS[:2])
        }


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_number_of_shards_finds_the_same(
    count: int,
    corpus: Corpus,
    embed: Embed,
    wanted: dict[tuple[str, str, Filter | None], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(diversity, "RANKED", 40)
    with ExitStack() as stack, corpus.reading() as now:
        stores = shards(now.store, tmp_path, count)
        for store, _ in stores:
            stack.enter_context(closing(store))
        for (ranking, question, where), hits in wanted.items():
            parts = [Retriever(*one, embed, RANKINGS[ranking]) for one in stores]
            found = search(parts, question, k=9, passages=4, where=where)
            assert exact(found) == hits, (ranking, question, where)
            assert found or question == "the"


def test_shards_of_any_size_compare_everything(
    corpus: Corpus,
    embed: Embed,
    wanted: dict[tuple[str, str, Filter | None], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where one piece looks up codes and may miss something, shards find what is exact."""
    monkeypatch.setattr(diversity, "RANKED", 40)
    monkeypatch.setattr(faiss_index, "FLAT_BELOW", 16)
    with ExitStack() as stack, corpus.reading() as now:
        assert Snapshot.build(now.store).passage_vectors.is_approximate
        stores = shards(now.store, tmp_path, 2)
        for store, _ in stores:
            stack.enter_context(closing(store))
        for question in QUESTIONS[:3]:
            found = search(
                [Retriever(*one, embed) for one in stores], question, k=9, passages=4, where=None
            )
            assert exact(found) == wanted["default", question, None]


def exact(hits: Sequence[Hit]) -> list[tuple[object, ...]]:
    """Everything about hits; scores as their bits."""
    return [
        (one, one.score.hex(), *(each.score.hex() for each in one.passages), *one.parts.items())
        for one in hits
    ]


def test_what_none_of_the_shards_has_is_an_error_and_no_documents_are_none(
    corpus: Corpus, encoder: Encoder, tmp_path: Path
) -> None:
    with corpus.reading() as now:
        stores = shards(now.store, tmp_path, 2)
    parts = [Retriever(store, snapshot, encoder.encode_queries) for store, snapshot in stores]
    with pytest.raises(DocumentNotFound, match="nowhere"):
        search(parts, "ferry", k=1, passages=1, where=Filter(documents=("talk-1", "nowhere")))
    with pytest.raises(InvalidRequest):
        search(parts, "ferry", k=0, passages=1, where=None)
    assert search([], "ferry", k=1, passages=1, where=None) == []
    for store, _ in stores:
        store.close()
