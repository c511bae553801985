"""Scoring the documents that can win gives what scoring everything gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.filter import Filter
from indexing.index import padding, sample
from indexing.index.dense.faiss_index import FaissIndex
from indexing.index.dense.vectors import Vectors
from indexing.index.selection import Selection
from indexing.store.store import Store
from rag_app.corpus.corpus import Corpus
from retriever import candidates
from retriever.exact_features import ExactFeatures
from retriever.features import DOCUMENT_FEATURES, PASSAGE_FEATURES, Features
from retriever.filters import passage_mask
from retriever.fusion import RANKINGS, Ranking, ScoreParts, Scores
from retriever.query import Query
from retriever.retriever import Retriever
from retriever.rounds.query_words import query_words
from retriever.rounds.rounds import run_together

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

SUBJECTS = [
    "ferry",
    "harbour",
    "lighthouse",
    "budget",
    "price",
    "rubber",
    "steel",
    "kitchen",
    "soup",
    "council",
    "bridge",
]
QUERIES = [
    "Where is the ferry?",
    "What did the council say about the price of steel? Who wants a bridge?",
    "Soup and rubber. The lighthouse budget. Harbour number seven.",
    "w123 w77",
    "What does Bob say of w12 and w9?",
    "zzzz",
]
FILTERS = [None, Filter(path="*odd*"), Filter(documents=("even-10",)), Filter(speaker="Ana")]


def text(number: int, draw: np.random.Generator) -> str:
    """A talk of 2 to 12 passages on two or three of the subjects."""
    subjects, lines = draw.choice(SUBJECTS, 3), []
    for _ in range(int(draw.integers(2, 12))):
        words = [f"w{rank}" for rank in draw.zipf(1.3, 120) % 400]
        words[::9] = draw.choice(subjects, len(words[::9]))
        lines.append(f"{draw.choice(['Ana', 'Bob'])}: the {' '.join(words)}.")
    return "\n".join([f"Ana: Talk {number}.", *lines])


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """Over 120 documents, all scored. Vectors are drawn: what is tested is how they are used."""
    encoder = Encoder(EncoderSettings(extension="none", max_length=16))
    with Corpus(tmp_path_factory.mktemp("corpus"), encoder=encoder) as corpus:
        draw = np.random.default_rng(0)
        folder = tmp_path_factory.mktemp("files")
        for number in range(120):
            name = f"{'odd' if number % 2 else 'even'}-{number}.txt"
            (folder / name).write_text(text(number, draw))
        corpus.add([folder])
        with corpus.retriever() as found:
            vectors = drawn(found, draw)
            index = Vectors.of(FaissIndex.build(vectors))
            yield replace(
                found, snapshot=replace(found.snapshot, passage_vectors=index), embed=asked(vectors)
            )


def drawn(retriever: Retriever, draw: np.random.Generator) -> FloatArray:
    """(passages, d) unit vectors, those of one document alike."""
    owner = retriever.snapshot.owner
    made = draw.normal(size=(owner[-1] + 1, 384))[owner] + draw.normal(size=(len(owner), 384))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def asked(vectors: FloatArray) -> Callable[[Sequence[str]], FloatArray]:
    """Vectors for texts: near some passage, the same for the same text."""

    def embed(texts: Sequence[str]) -> FloatArray:
        rows = []
        for each in texts:
            draw = np.random.default_rng(list(each.encode()))
            row = vectors[draw.integers(len(vectors))] + 0.05 * draw.normal(size=384)
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, np.float32)

    return embed


@pytest.fixture(scope="module")
def large(retriever: Retriever) -> Retriever:
    """The same with an index of codes, by which candidates are scored alone."""
    snapshot = retriever.snapshot
    vectors = snapshot.passage_vectors.at(np.arange(len(snapshot.owner)))
    index = Vectors.of(FaissIndex.build(vectors, flat_below=0))
    return replace(retriever, snapshot=replace(snapshot, passage_vectors=index))


def best(scores: FloatArray, count: int) -> list[int]:
    order = np.argsort(-scores, kind="stable")[:count]
    return [int(place) for place in order if np.isfinite(scores[place])]


def same(few: Scores, every: Scores, *, atol: float) -> None:
    """What was scored has the scores that full scoring gives it, part by part."""
    places = np.flatnonzero(np.isfinite(few.documents))
    np.testing.assert_allclose(few.documents[places], every.documents[places], atol=atol)
    same_parts(few.document_parts, every.document_parts, places, atol=atol)
    places = np.flatnonzero(np.isfinite(few.passages))
    same_parts(few.passage_parts, every.passage_parts, places, atol=atol)


def same_parts(few: ScoreParts, every: ScoreParts, places: IntArray, *, atol: float) -> None:
    """What each feature gave to some scores, but for repetition, which rests on all of them."""
    assert few.values.keys() == every.values.keys()
    for name in few.values.keys() - {"repetition"}:
        np.testing.assert_allclose(values(few, name, places), every.values[name][places], atol=atol)


def values(parts: ScoreParts, name: str, places: IntArray) -> FloatArray:
    """What a feature gave to the scores at some places."""
    if parts.positions is None:
        return parts.values[name][places]
    order = np.argsort(parts.positions)
    found = order[np.searchsorted(parts.positions, places, sorter=order)]
    assert np.array_equal(parts.positions[found], places)
    return parts.values[name][found]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("where", [None, *FILTERS[1:3]])
@pytest.mark.parametrize("ranking", RANKINGS)
def test_where_nothing_is_left_out_it_is_full_scoring(
    query: str, where: Filter | None, ranking: str, retriever: Retriever, large: Retriever
) -> None:
    full = replace(retriever, ranking=RANKINGS[ranking])
    every = full.score(Query.of(query), where=where)
    few = replace(large, ranking=RANKINGS[ranking]).score(Query.of(query), where=where)
    assert np.array_equal(np.isfinite(few.documents), np.isfinite(every.documents))
    assert np.array_equal(np.isfinite(few.passages), np.isfinite(every.passages))
    same(few, every, atol=2e-5)
    np.testing.assert_allclose(few.passages, every.passages, atol=5e-5)


@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("query", QUERIES[:3])
def test_the_best_are_the_best_of_full_scoring(
    query: str,
    where: Filter | None,
    retriever: Retriever,
    large: Retriever,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking up few passages, with few candidates; the spread is known here."""
    monkeypatch.setattr(padding, "CHUNK", 100)  # so that there are several
    large = replace(large, snapshot=replace(large.snapshot))
    for name, value in {"CANDIDATES": 150, "FEWEST": 20, "LARGE_DEPTH": 60}.items():
        monkeypatch.setattr(candidates, name, value)
    every = retriever.score(Query.of(query), where=where)
    few = large.score(Query.of(query), where=where, least=10)
    assert np.isfinite(few.documents).sum() <= 40
    found, right = best(few.documents, 10), best(every.documents, 10)
    assert found[:5] == right[:5]  # vectors are noise here, whose codes are noise further down
    assert len({*found} & {*right}) >= len(right) - 1
    own = np.flatnonzero(retriever.snapshot.owner == best(every.documents, 1)[0])
    assert best(few.passages[own], 3) == best(every.passages[own], 3)
    if where is None or not where.speaker:  # a neighbour who may not speak counts differently
        same(few, every, atol=2e-5)


def test_an_estimated_spread_moves_scores_a_little(
    retriever: Retriever, large: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SAMPLE", 250)
    large = replace(large, snapshot=replace(large.snapshot))
    monkeypatch.setattr(candidates, "LARGE_DEPTH", 60)
    shared = []
    for query in QUERIES[:3]:
        every = retriever.score(Query.of(query))
        few = large.score(Query.of(query))
        shared.append(len({*best(few.documents, 10)} & {*best(every.documents, 10)}))
        places = np.arange(len(every.documents))
        for name in ("bm25_document", "bm25_passages", "bigram_document"):
            np.testing.assert_allclose(
                values(few.document_parts, name, places),
                every.document_parts.values[name],
                atol=2e-5,
            )
        ratio = (
            few.document_parts.values["dense_passages"].std()
            / every.document_parts.values["dense_passages"].std()
        )
        assert 0.6 < ratio < 1.6 and ratio != 1
    assert min(shared) >= 9


def test_as_many_documents_as_are_wanted(
    retriever: Retriever, large: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", 1)
    monkeypatch.setattr(candidates, "FEWEST", 2)
    scores = {hit.document: hit for hit in retriever.search(QUERIES[1], k=200, passages=2)}
    for wanted in (1, 7):
        hits = large.search(QUERIES[1], k=wanted, passages=2)
        assert len(hits) == wanted
        for one in hits:  # as scored by everything, if not always the best of all: so few are tried
            two = scores[one.document]
            assert one.score == pytest.approx(two.score, abs=1e-4)
            assert [p.start for p in one.passages] == [p.start for p in two.passages]


def test_nothing_allowed(large: Retriever) -> None:
    nobody = Filter(speaker="nobody")
    assert large.search("ferry", where=nobody) == []


SINGLE_FEATURES = [
    *(Ranking(documents={name: 0.7}, passages={"bm25": 1.0}) for name in DOCUMENT_FEATURES),
    *(Ranking(documents={"bm25_document": 1.0}, passages={name: 0.7}) for name in PASSAGE_FEATURES),
]


@pytest.mark.parametrize("ranking", SINGLE_FEATURES)
def test_every_feature_of_the_tables_is_that_of_full_scoring(
    ranking: Ranking, retriever: Retriever, large: Retriever
) -> None:
    every = replace(retriever, ranking=ranking).score(Query.of(QUERIES[1]))
    few = replace(large, ranking=ranking).score(Query.of(QUERIES[1]))
    assert np.isfinite(few.documents).all()
    same(few, every, atol=2e-5)


@pytest.mark.parametrize("where", FILTERS)
def test_sums_tell_how_much_scores_vary(
    where: Filter | None, large: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(padding, "CHUNK", 100)
    snapshot = replace(large.snapshot)
    assert len(snapshot.padding.chunks) > 5
    limits = where or Filter()
    (mask,) = run_together([passage_mask(limits, large.store.in_collections(where), snapshot)])
    query = Query.of(QUERIES[4])
    (words,) = run_together([query_words(snapshot, query)])
    features = Features(snapshot, query, large.embed, mask)
    features.words = words
    exact = ExactFeatures(features, RANKINGS["default"])
    bounds = np.append(snapshot.first_passages, len(snapshot.owner))
    everything = Selection.of(np.arange(len(bounds) - 1), bounds)
    owners = exact.documents[snapshot.owner]
    for spread, scores in (
        (exact.passage_spread, exact.passages(everything, exact.of_passages(everything))),
        (exact.owners, owners if mask is None else owners[mask]),
    ):
        finite = scores[np.isfinite(scores)]
        assert spread.mean == pytest.approx(finite.mean(), abs=1e-4)
        assert spread.deviation == pytest.approx(finite.std(), rel=1e-3)


def test_a_large_corpus_from_end_to_end(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexed, saved, damaged, made again: codes and vectors are part of the snapshot."""
    draw = np.random.default_rng(1)
    for number in range(8):
        (tmp_path / f"talk-{number}.txt").write_text(text(number, draw))

    def found(folder: str) -> list[Hit]:
        with Corpus(tmp_path / folder, encoder=encoder) as corpus:
            corpus.add([tmp_path])
            with corpus.retriever() as retriever:
                assert retriever.snapshot.passage_vectors.is_approximate == (folder == ".large")
            return corpus.search("ferry and steel", k=3)

    small = found(".small")
    monkeypatch.setattr("indexing.index.dense.faiss_index.FLAT_BELOW", 16)
    hits = found(".large")
    assert [hit.title for hit in small] == [hit.title for hit in hits]
    for end in (-9, 99):
        with Store(tmp_path / ".large").reading():
            entries = Store(tmp_path / ".large").index.manifest().segments
        file = tmp_path / ".large" / ".index" / f"{entries[-1][1].name}.segment"
        file.write_bytes(file.read_bytes()[:end])
        assert found(".large") == hits
