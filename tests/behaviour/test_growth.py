"""However a corpus came to be what it is, hits and scores are those of one indexed at once.

Hypothesis draws what happens to it: documents added, replaced, removed, moved between collections,
speakers renamed; segments published, merged, lost; shards; and a writer killed in between.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from indexing.documents import Hit
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.files import document
from indexing.filter import Filter
from indexing.index import merging
from indexing.index.segment import Segment
from indexing.index.snapshot import Snapshot
from indexing.store.store import Store
from indexing.text.chunking import split
from rag_app.corpus.segments import Segments
from rag_app.corpus.shards.manifest import Division
from rag_app.corpus.shards.parts import SearchRequest
from rag_app.corpus.shards.shards import Shards
from retriever import diversity
from retriever.retriever import Retriever

D = 16
NAMES = ("a", "b", "c", "d", "e", "f")
WORDS = ("the", "rat", "Rat", "nicht", "und", "ferry", "of", "steel", "costs", "die", "will", "x")
QUERIES = (
    "What did Ana say of the steel ferry? Will the Rat cost us?",
    "Was sagt Bob nicht über die Rat und x?",
    "the of",
    "zebra",
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)


def vectors(parts: Sequence[str]) -> npt.NDArray[np.float32]:
    """(n, D) unit vectors, the same for the same text."""
    seeds = [[*part.encode()] for part in parts]
    drawn = np.stack([np.random.default_rng(seed).standard_normal(D) for seed in seeds])
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


def exact(hits: Sequence[Hit]) -> list[object]:
    """Everything about hits; scores as their bits."""
    return [
        (one, one.score.hex(), *(each.score.hex() for each in one.passages), *one.parts.items())
        for one in hits
    ]


class Growth(RuleBasedStateMachine):
    """A corpus to which something happens."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store(self.folder, create=True)
        self.store.set_fingerprint(Fingerprint("drawn", "1", "none", 0, "mean", "float32", D))
        self.segments = Segments(self.folder)
        self.texts: dict[str, str] = {}

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    # What happens to documents

    @rule(
        name=st.sampled_from(NAMES),
        spoken=st.booleans(),
        parts=st.lists(texts, min_size=1, max_size=4),
        collection=st.sampled_from(("default", "other")),
    )
    def put(self, name: str, spoken: bool, parts: list[str], collection: str) -> None:
        people = ("Ana", "Bob", "Ana Lopez", "Cara")
        lines = [f"{people[n]}: {part}" if spoken else part for n, part in enumerate(parts)]
        one = document("\n\n".join(lines), name=name)
        spans = split(one)
        own = vectors([one.text[span.start : span.end] for span in spans])
        encoded = EncodedDocument(vectors([one.text])[0], own, 0, 0)
        self.store.put(one, spans, encoded, added="now", collection=collection)
        self.texts[one.id] = one.text

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.texts)))
        self.store.remove([id_])
        del self.texts[id_]

    @precondition(lambda self: self.texts)
    @rule(data=st.data(), to=st.sampled_from(("default", "other")))
    def join(self, data: st.DataObject, to: str) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.texts)))
        (identity,) = [one for one in self.store.identities() if one.id == id_]
        self.store.join(identity, to)

    @precondition(lambda self: self.texts)
    @rule(data=st.data(), name=st.sampled_from(("Ana", "Dora", "Bob")))
    def rename(self, data: st.DataObject, name: str) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.texts)))
        self.store.name_speakers({id_: {"Ana": name}})

    # What happens to segments

    @rule()
    def publish(self) -> None:
        self.segments.publish(self.store)

    @rule(everything=st.booleans())
    def merge(self, everything: bool) -> None:
        self.segments.publish(self.store)
        self.segments.merge(self.store, merging.all_of_them if everything else merging.due)

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def merge_beside_a_writer(self, data: st.DataObject) -> None:
        """Who publishes what has changed meanwhile."""
        made = merging.merge

        def merge(*parts: Any, **options: Any) -> Segment | None:
            merged = made(*parts, **options)
            if self.texts:
                self.rename(data, "Dora") if data.draw(st.booleans()) else self.remove(data)
            if data.draw(st.booleans()):
                Segments(self.folder).publish(self.store)
            return merged

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rag_app.corpus.segments.merge", merge)
            self.segments.merge(self.store, merging.all_of_them)

    @rule()
    def killed(self) -> None:
        """Between a file and the manifest that is to name it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.store.index, "add", lambda *_: None)
            self.segments.publish(self.store)
        self.segments = Segments(self.folder)

    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        files = sorted(self.segments.folder.glob("*.segment"))
        if files:
            data.draw(st.sampled_from(files)).unlink()
        self.segments = Segments(self.folder)

    # What must hold

    @invariant()
    def hits_are_those_of_one_piece(self) -> None:
        with self.store.reading():
            whole, grown = Snapshot.build(self.store), self.segments.current(self.store)
            for query in QUERIES:
                for where in (None, Filter(collections=("other",)), Filter(speaker="ana")):
                    if where is not None and not self._has(where):
                        continue
                    one, two = (self._hits(each, query, where) for each in (whole, grown))
                    assert one == two
        assert {*self.texts} == {one.id for one in self.store.identities()}
        assert len(whole.document_rows) == len(self.texts)

    @precondition(lambda self: self.texts)
    @rule(count=st.integers(1, 3))
    def shards(self, count: int) -> None:
        shards = Shards(self.folder)
        shards.divide(self.store, Division(count))
        with shards.reading() as pinned, self.store.reading():
            for query in QUERIES:
                found = pinned.search(SearchRequest(query, k=9, passages=9), vectors)
                assert exact(found) == self._hits(Snapshot.build(self.store), query, None)
        shards.close()

    def _has(self, where: Filter) -> bool:
        return all(self.store.collections.row(name) is not None for name in where.collections)

    def _hits(self, snapshot: Snapshot, query: str, where: Filter | None) -> list[object]:
        if not len(snapshot.document_rows):
            return []
        found = Retriever(self.store, snapshot, vectors).search(query, k=9, passages=9, where=where)
        return exact(found)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few documents are many."""
    monkeypatch.setattr(merging, "FACTOR", 2)
    monkeypatch.setattr(merging, "SMALLEST", 2)
    monkeypatch.setattr(diversity, "RANKED", 5)


def test_grown_is_built_at_once() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Growth,
        settings=settings(
            max_examples=int(os.environ.get("GROWTH_EXAMPLES", "12")),
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        ),
    )
