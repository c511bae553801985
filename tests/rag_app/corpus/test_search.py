"""Searches by several threads, beside a writer, and of the samples."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexing.errors import InvalidRequest
from rag_app.corpus.corpus import Corpus
from tests.rag_app.corpus.probes import TEXTS


def test_many_threads_search_one_corpus(corpus: Corpus) -> None:
    queries = [f"Where did probe {n % 8} fall?" for n in range(32)]
    alone = [corpus.search(query, k=3) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: corpus.search(query, k=3), queries))
    assert together == alone
    assert {hits[0].title for hits in together} == set(TEXTS)


def test_threads_search_while_one_adds(corpus: Corpus) -> None:
    """Each search sees one moment: its quotes are what its documents say then."""
    done, searched = threading.Event(), []

    def search() -> None:
        while not done.is_set():
            store = corpus._stores.connection()
            with store.reading():
                hits = corpus.search("Where did the probe fall?", k=99)
                for hit in hits:
                    text = store.document(hit.document).text
                    for passage in hit.passages:
                        assert text[passage.start : passage.end] == passage.text
                searched.append(((store.generation, store.index.manifest()), len(hits)))

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(search) for _ in range(3)]
        for n in range(8, 14):
            corpus.add_text(f"Probe {n} fell. {'Again. ' * n}", name=f"probe {n}")
            corpus.add_text(f"Probe 0 fell {n} times.", name="probe 0")
        done.set()
        for reader in readers:
            reader.result()
    assert len(corpus.documents()) == 14
    sizes = dict(searched)
    assert all(sizes[moment] == size for moment, size in searched)
    assert len(sizes) > 1


def test_samples_are_found(samples_corpus: Corpus) -> None:
    info = samples_corpus.info()
    assert info.documents == 11 and info.snapshot == "current"
    for entry in samples_corpus.documents():
        text = samples_corpus.document(entry.id).text
        middle = text[len(text) // 2 :].split("\n")[1:] or [text]
        query = max(middle[:8], key=len)
        (hit, *_) = samples_corpus.search(query, k=1)
        assert hit.document == entry.id, entry.title


def test_a_ranking_that_is_none_is_refused_before_anything_is_read(corpus: Corpus) -> None:
    for search in (corpus.search, corpus.partial_search):
        with pytest.raises(InvalidRequest, match="no ranking 'best'; there are: default"):
            search("probe", ranking="best")
