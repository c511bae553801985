"""Similar documents are those whose vectors are near, by brute force."""

import numpy as np
import pytest

from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.filter import Filter
from rag_app.corpus.corpus import Corpus


def by_brute_force(corpus: Corpus, title: str) -> list[tuple[str, float]]:
    """Ids of all others and cosines, best first."""
    with corpus.reading() as now:
        ids = {row: id_ for row, id_, *_ in now.store.document_rows()}
        vectors = {ids[row]: vector for row, vector, _ in now.store.vectors()}
    own = vectors.pop(corpus.document(title).id)
    found = [
        (id_, float(vector @ own / np.linalg.norm(vector) / np.linalg.norm(own)))
        for id_, vector in vectors.items()
    ]
    return sorted(found, key=lambda pair: -pair[1])


def test_they_are_the_nearest_of_all_others(samples_corpus: Corpus) -> None:
    expected = by_brute_force(samples_corpus, "heron-1-kick-off")
    found = samples_corpus.similar("heron-1-kick-off", k=100)
    assert [one.document.id for one in found] == [id_ for id_, _ in expected]
    assert [one.similarity for one in found] == pytest.approx([c for _, c in expected], abs=1e-4)
    best = samples_corpus.similar("heron-1-kick-off", k=3)
    assert best == found[:3]
    assert any(one.document.title.startswith("heron") for one in best)


def test_a_filter_limits_them(samples_corpus: Corpus) -> None:
    ferry = samples_corpus.document("the-ferry-book").id
    found = samples_corpus.similar("heron-1-kick-off", where=Filter(documents=(ferry,)))
    assert [one.document.id for one in found] == [ferry]
    own = samples_corpus.document("heron-1-kick-off").id
    assert samples_corpus.similar("heron-1-kick-off", where=Filter(documents=(own,))) == []


def test_what_cannot_be_asked_is_refused(samples_corpus: Corpus) -> None:
    with pytest.raises(DocumentNotFound):
        samples_corpus.similar("heron-99")
    with pytest.raises(InvalidRequest, match="at least 1"):
        samples_corpus.similar("heron-1-kick-off", k=0)
