"""What a search returns: the right documents, quotes at their places, scores that add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import CollectionNotFound, DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from indexing.store.store import Store
from rag_app.corpus.corpus import Corpus
from retriever.diversity import RankedPassages
from retriever.features import (
    DOCUMENT_FEATURES,
    PASSAGE_FEATURES,
    Features,
    SentenceMax,
    similarities,
)
from retriever.fusion import RANKINGS, fuse, standardise
from retriever.late_interaction import moving_average, sum_of_best
from retriever.query import Query
from retriever.rounds.moments import Spreads
from retriever.rounds.query_words import query_words
from retriever.rounds.rounds import run_together
from tests.indexing.store.drawn import passage_rows

FloatArray = npt.NDArray[np.float32]
INF = np.float32(-np.inf)

FILES = {
    "minutes/lake.txt": "Ana: The probe fell into the lake.\nBob: Divers looked.\nAna: Found it.",
    "minutes/price.txt": "Bob: We lower the price to ninety euros.\nCara: Good.\nBob: Done.",
    "minutes/case.txt": "Cara: I want a rubber case.\nAna: It costs four euros.\nCara: Fine.",
    "reports/ferry.md": "# The ferry\n\nThe ferry sails on Mondays. It carries forty cars.",
    "reports/steel.md": "# Steel\n\nThe hull is steel. Paint keeps the rust away.",
    "reports/kitchen.md": "# Kitchen\n\nSoup is served at noon. Bread is baked on Fridays.",
}
QUESTIONS = {
    "Where did the probe fall?": "lake",
    "How low is the price now?": "price",
    "Who wants a rubber case?": "case",
    "On which day does the ferry sail?": "The ferry",
    "What keeps rust away from the hull?": "Steel",
    "When is soup served?": "Kitchen",
}
LONG = "reports/long.md"


def long_text() -> str:
    """Some thirty passages, one of them about a lighthouse."""
    blocks = [
        f"Entry {n}. " + "The committee adjourned without a decision. " * 12 for n in range(30)
    ]
    blocks[17] = "Entry 17. " + "The lighthouse at Ellmere burns oil from whales. " * 12
    return "\n\n".join(blocks)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("corpus")
    for name, text in {**FILES, LONG: long_text()}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with Corpus(folder / ".rag-app", encoder=encoder) as corpus:
        corpus.add([folder])
        yield corpus


def titles(hits: list[Hit]) -> list[str]:
    return [hit.title for hit in hits]


# ---- what is found ----


@pytest.mark.parametrize(("question", "title"), QUESTIONS.items())
@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_document_that_answers_comes_first(
    question: str, title: str, ranking: str, corpus: Corpus
) -> None:
    assert titles(corpus.search(question, ranking=ranking))[0] == title


def test_the_passage_that_answers_comes_first(corpus: Corpus) -> None:
    hit = corpus.search("What does the lighthouse burn?")[0]
    assert hit.title == "long" and "burns oil" in hit.passages[0].text


@pytest.mark.parametrize("question", [*QUESTIONS, "Entry committee decision"])
def test_quotes_stand_at_their_places(question: str, corpus: Corpus) -> None:
    for hit in corpus.search(question, k=99, passages=99):
        text = corpus.document(hit.document).text
        assert hit.passages
        for passage in hit.passages:
            assert text[passage.start : passage.end] == passage.text != ""


def test_best_first(corpus: Corpus) -> None:
    hits = corpus.search("the committee and the lighthouse", k=99, passages=99)
    for scores in ([hit.score for hit in hits], *([p.score for p in h.passages] for h in hits)):
        assert scores == sorted(scores, reverse=True)


def test_as_many_as_asked_for_and_no_more_than_there_are(corpus: Corpus) -> None:
    hits = corpus.search("committee", k=99, passages=99)
    assert len(hits) == len(FILES) + 1
    passages = {entry.id: entry.passages for entry in corpus.documents()}
    assert {hit.document: len(hit.passages) for hit in hits} == passages
    few = corpus.search("committee", k=2, passages=2)
    assert [hit.document for hit in few] == [hit.document for hit in hits[:2]]
    assert len(few[0].passages) == 2
    assert few[0].passages == hits[0].passages[:2]


def test_speakers_come_with_a_hit(corpus: Corpus) -> None:
    hit = corpus.search("Who wants a rubber case?")[0]
    assert set(hit.passages[0].speakers) == {"Ana", "Cara"}
    assert hit.path.endswith("minutes/case.txt") and hit.part == ""


# ---- filters ----


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(documents=("lake", "Steel")), {"lake", "Steel"}),
        (Filter(path="minutes/*"), {"lake", "price", "case"}),
        (Filter(path="*.md"), {"The ferry", "Steel", "Kitchen", "long"}),
        (Filter(path="reports/[fs]*.md"), {"The ferry", "Steel"}),
        (Filter(speaker="ana"), {"lake", "case"}),
        (Filter(speaker="CARA"), {"price", "case"}),
        (Filter(speaker="Ana", path="*/lake.txt"), {"lake"}),
        (Filter(speaker="Ana", documents=("price",)), set()),
        (Filter(path="nowhere/*"), set()),
        (Filter(), {"lake", "price", "case", "The ferry", "Steel", "Kitchen", "long"}),
    ],
)
@pytest.mark.parametrize("ranking", RANKINGS)
def test_only_what_a_filter_admits(
    where: Filter, expected: set[str], ranking: str, corpus: Corpus
) -> None:
    for question in ("rubber case", "the committee", "steel hull"):
        hits = corpus.search(question, k=99, passages=99, where=where, ranking=ranking)
        assert set(titles(hits)) == expected
        if where.speaker:
            wanted = where.speaker.casefold()
            for passage in (passage for hit in hits for passage in hit.passages):
                assert any(wanted in name.casefold() for name in passage.speakers)


def test_a_filter_by_id(corpus: Corpus) -> None:
    id_ = corpus.documents()[0].id
    assert [hit.document for hit in corpus.search("soup", where=Filter((id_,)))] == [id_]


@pytest.mark.parametrize("ranking", RANKINGS)
def test_collections_give_the_hits_of_their_documents(ranking: str, corpus: Corpus) -> None:
    """Those, with their scores, that a filter gives which names each document."""
    holding = {"wet": ["lake", "The ferry"], "sold": ["price", "lake"]}
    for name, held in holding.items():
        if name not in {one.name for one in corpus.collections.all()}:
            corpus.collections.create(name, owner=name)
            corpus.collections.add(name, held)
    ids = {one.title: one.id for one in corpus.documents()}
    for names in (("wet",), ("sold",), ("wet", "sold")):
        documents = tuple(ids[title] for name in names for title in holding[name])
        for speaker in (None, "Ana"):
            named = Filter(documents=documents, speaker=speaker)
            where = Filter(collections=names, speaker=speaker)
            for question in ("Where did the probe fall?", "the committee"):
                hits, expected = (
                    corpus.search(question, k=99, passages=99, where=one, ranking=ranking)
                    for one in (where, named)
                )
                assert hits == expected and hits
    with pytest.raises(CollectionNotFound, match="default, wet, sold"):
        corpus.search("soup", where=Filter(collections=("dry",)), ranking=ranking)


def test_a_speaker_limits_passages_too(tmp_path: Path, encoder: Encoder) -> None:
    """A document in which both speak gives only the passages of the one asked for."""
    said = ["Ana: " + "The lake is deep. " * 50, "Bob: " + "The lake is shallow. " * 50, "Ana: No."]
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("\n".join(said), name="talk")
        every = corpus.search("lake", passages=99)[0].passages
        bobs = corpus.search("lake", passages=99, where=Filter(speaker="Bob"))[0].passages
        assert 0 < len(bobs) < len(every)
        assert all("Bob" in passage.speakers for passage in bobs)


# ---- requests and corpora at their limits ----


@pytest.mark.parametrize("query", ["", "  \n", "?!", "\u200b"])
def test_an_empty_query_is_refused(query: str, corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        corpus.search(query)


@pytest.mark.parametrize("numbers", [{"k": 0}, {"k": -1}, {"passages": 0}])
def test_impossible_numbers_are_refused(numbers: dict[str, Any], corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="at least one"):
        corpus.search("soup", **numbers)


def test_an_unknown_ranking_is_refused(corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="default, dense, bm25"):
        corpus.search("soup", ranking="best")


@pytest.mark.parametrize(
    "query",
    [
        *("the of and", "zzzq xkcdv", "x" * 5000, "probe " * 900, "東京 \U0001f600 probe"),
        *("probe\ud800", "a" * 3 + "\x00b", "1. 2. 3. a. b.", "' OR 1=1; --"),
    ],
)
@pytest.mark.parametrize("ranking", RANKINGS)
def test_odd_queries_are_answered(query: str, ranking: str, corpus: Corpus) -> None:
    hits = corpus.search(query, k=3, ranking=ranking)
    assert len(hits) == 3
    assert all(np.isfinite(hit.score) for hit in hits)


def test_an_empty_corpus(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([])
        for ranking in RANKINGS:
            assert corpus.search("anything", ranking=ranking) == []
            assert corpus.search("anything", ranking=ranking, where=Filter(speaker="Ana")) == []
        corpus.add_text("A probe fell.", name="one")
        corpus.remove(["one"])
        assert corpus.search("probe") == []


@pytest.mark.parametrize("text", ["probe", "A probe fell into the lake.", "東京"])
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_corpus_of_one_document(
    text: str, ranking: str, tmp_path: Path, encoder: Encoder
) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text(text, name="one")
        for query in ("probe", "something else"):
            (hit,) = corpus.search(query, ranking=ranking)
            assert hit.title == "one" and hit.passages[0].text == text
            assert np.isfinite([hit.score, hit.passages[0].score]).all()
        assert corpus.search("probe", where=Filter(speaker="Ana"), ranking=ranking) == []


# ---- scores, by their parts ----


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("where", [None, Filter(path="minutes/*")])
def test_a_document_scores_the_sum_of_its_parts(
    ranking: str, where: Filter | None, corpus: Corpus
) -> None:
    for hit in corpus.search("the rubber case and the lake", ranking=ranking, where=where):
        assert set(hit.parts) == set(RANKINGS[ranking].documents)
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-3)


def test_every_part_of_a_ranking_has_its_formula() -> None:
    for ranking in RANKINGS.values():
        assert set(ranking.documents) <= set(DOCUMENT_FEATURES)
        assert set(ranking.passages) <= {*PASSAGE_FEATURES, "document"}
        for name in ranking.documents:
            late_interaction = isinstance(DOCUMENT_FEATURES[name], SentenceMax)
            assert name.endswith(("passages", "stretches")) == late_interaction


def test_only_what_a_ranking_uses_is_computed(corpus: Corpus) -> None:
    def embed(texts: Sequence[str]) -> FloatArray:
        asked.append(len(texts))
        return np.eye(len(texts), 384, dtype=np.float32)

    for ranking, expected in (("bm25", []), ("dense", [1]), ("default", [3])):
        asked: list[int] = []
        with corpus.retriever(ranking) as retriever:
            replace(retriever, embed=embed).search("Who fell? When was that?")
        assert asked == expected
        query, gone = Query.of("Who fell?"), cast(Any, None)
        words = run_together([query_words(retriever.snapshot, query)])[0]
        empty = replace(words, passages=gone, documents=gone, passage_pairs=gone)
        features = Features(retriever.snapshot, query, embed)
        features.words = empty
        with nullcontext() if ranking == "dense" else pytest.raises(AttributeError):
            _ = [features.of_documents(name) for name in RANKINGS[ranking].documents]


def test_a_passage_scores_the_sum_of_its_parts(corpus: Corpus) -> None:
    for hit in corpus.search("Who edited the report on the river?", k=3, passages=4):
        for passage in hit.passages:
            assert sum(passage.parts.values()) == pytest.approx(passage.score, abs=1e-3)


def test_each_further_passage_of_a_document_loses_more() -> None:
    scores = np.array([3.0, 2.0, 1.0, 2.5, -np.inf], np.float32)
    documents, deviation = np.array([0, 0, 0, 1, 1]), np.std(scores[:4])
    ranks = RankedPassages.of(scores, documents).merge(())
    lost = ranks.penalty(documents, weight=0.5, deviation=deviation)
    assert lost[:4] == pytest.approx([0, *(-0.5 * deviation * np.log([2, 3])), 0], abs=1e-5)


def test_a_filter_by_a_name_that_is_not_there(corpus: Corpus) -> None:
    with pytest.raises(DocumentNotFound, match="rag-app list"):
        corpus.search("report", where=Filter(documents=("nowhere",)))


def test_dense_parts_are_products_of_vectors(corpus: Corpus, encoder: Encoder) -> None:
    """With brute force over what the database holds."""
    query = "Where did the probe fall?"
    store = Store(corpus.folder)
    (asked,) = encoder.encode_queries([query])
    wholes = np.stack([whole for _, whole, _ in store.vectors()])
    with corpus.retriever("dense") as retriever:
        scored = retriever.score(Query.of(query))
        rows = retriever.snapshot.passage_rows
    np.testing.assert_allclose(scored.documents, standardise(wholes @ asked), atol=1e-4)
    passages = np.concatenate([parts @ asked for _, _, parts in store.vectors()])
    assert [one.row for one in passage_rows(store)] == rows.tolist()
    order = np.argsort(-scored.passages, kind="stable")[:10]
    assert passages[order].tolist() == sorted(passages.tolist(), reverse=True)[:10]


def test_similarities_are_the_same_in_any_company() -> None:
    from indexing.index.dense.faiss_index import FaissIndex
    from indexing.index.dense.vectors import Vectors

    draw = np.random.default_rng(0)
    vectors, queries = (draw.normal(size=(n, 48)).astype(np.float32) for n in (150, 33))
    whole = similarities(Vectors.of(FaissIndex.build(vectors)), queries)
    np.testing.assert_allclose(whole, queries @ vectors.T, atol=1e-4)
    for own in (np.arange(7, 90), np.flatnonzero(draw.random(150) < 0.3), np.array([149])):
        part = similarities(Vectors.of(FaissIndex.build(vectors[own])), queries[:2])
        assert part.tobytes() == np.ascontiguousarray(whole[:2, own]).tobytes()


def test_sum_of_best_is_that_of_a_loop() -> None:
    draw = np.random.default_rng(1)
    scores = draw.normal(size=(4, 20)).astype(np.float32)
    scores[:, draw.random(20) < 0.3] = INF
    starts = np.array([0, 1, 5, 6, 19])
    scores[:, 6:19] = INF  # no passage of the fourth document counts
    expected = []
    for first, last in zip(starts, [*starts[1:], 20], strict=True):
        total = 0.0
        for sentence in scores:
            total += max(float(score) for score in sentence[first:last])
        expected.append(total)
    np.testing.assert_allclose(sum_of_best(scores, starts), expected, rtol=1e-5)
    assert expected[3] == -np.inf


@pytest.mark.parametrize("reach", [1, 3])
def test_moving_average_is_that_of_a_loop(reach: int) -> None:
    draw = np.random.default_rng(2)
    scores = draw.normal(size=(2, 12)).astype(np.float32)
    starts, owner = np.array([0, 1, 6]), np.repeat([0, 1, 2], [1, 5, 6])
    expected = np.zeros_like(scores)
    for query in range(2):
        for place in range(12):
            near = range(max(0, place - reach), min(12, place + reach + 1))
            own = [float(scores[query, at]) for at in near if owner[at] == owner[place]]
            expected[query, place] = sum(own) / (2 * reach + 1)
    found = moving_average(scores, starts, owner, reach=reach)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_fusing_standardises_what_counts() -> None:
    scores = np.array([1, 5, INF, 3, 7], np.float32)
    finite = [1.0, 5.0, 3.0, 7.0]
    mean = sum(finite) / 4
    deviation = (sum((one - mean) ** 2 for one in finite) / 4) ** 0.5
    expected = [(one - mean) / deviation if np.isfinite(one) else INF for one in scores]
    np.testing.assert_allclose(standardise(scores), expected, rtol=1e-6)
    equal = standardise(np.array([2, INF, 2], np.float32))
    assert equal.tolist() == [0, INF, 0]
    nothing = np.full(3, INF)
    assert standardise(nothing).tolist() == nothing.tolist()
    total, given = fuse(
        {"a": scores, "b": -scores, "c": scores},
        {"a": 0.5, "c": 2.0},
        Spreads.of({"a": scores, "c": scores}).merge([]),
    )
    assert set(given) == {"a", "c"}
    np.testing.assert_allclose(total, 2.5 * standardise(scores), rtol=1e-6)


def test_a_query_is_taken_apart_into_sentences() -> None:
    query = Query.of("  Who fell? When was that? ")
    assert query.text == "Who fell? When was that?"
    assert query.sentences == ("Who fell?", "When was that?")
    assert Query.of("--- !!! One?").sentences[-1].endswith("One?")
    assert len(Query.of("Again. " * 500).sentences) == 32
